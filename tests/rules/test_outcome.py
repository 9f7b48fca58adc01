"""From HTTP status to the page's fetch status, and to the host's queue."""

from __future__ import annotations

import pytest

from filbert.model.records import ProtocolOutput
from filbert.model.statuses import FetchStatus, ProtocolStatus
from filbert.rules.host_queue import Outcome
from filbert.rules.outcome import (
    FETCH_STATUS,
    fetch_status,
    http_protocol_status,
    politeness_outcome,
    retry_after_ms,
)

NOW = 1_700_000_000_000


def _output(http_status: int | None, *headers: tuple[str, str]) -> ProtocolOutput:
    status = ProtocolStatus.EXCEPTION if http_status is None else http_protocol_status(http_status)
    return ProtocolOutput(status=status, http_status=http_status, headers=headers)


@pytest.mark.parametrize(
    ("http_status", "protocol", "fetch", "queue"),
    [
        (200, "success", "fetch_success", "answered"),
        (203, "success", "fetch_success", "answered"),
        (204, "exception", "fetch_retry", "answered"),
        (206, "exception", "fetch_retry", "answered"),
        (300, "moved", "fetch_redir_perm", "answered"),
        (301, "moved", "fetch_redir_perm", "answered"),
        (302, "temp_moved", "fetch_redir_temp", "answered"),
        (303, "temp_moved", "fetch_redir_temp", "answered"),
        (304, "notmodified", "fetch_notmodified", "answered"),
        (305, "moved", "fetch_redir_perm", "answered"),
        (307, "temp_moved", "fetch_redir_temp", "answered"),
        (308, "moved", "fetch_redir_perm", "answered"),
        (400, "gone", "fetch_gone", "answered"),
        (401, "access_denied", "fetch_gone", "answered"),
        (403, "exception", "fetch_retry", "failed"),
        (404, "notfound", "fetch_gone", "answered"),
        (405, "exception", "fetch_retry", "answered"),
        (410, "gone", "fetch_gone", "answered"),
        (429, "exception", "fetch_retry", "failed"),
        (500, "exception", "fetch_retry", "failed"),
        (503, "exception", "fetch_retry", "failed"),
        (None, "exception", "fetch_retry", "failed"),
    ],
)
def test_the_tables(http_status: int | None, protocol: str, fetch: str, queue: str) -> None:
    """Nutch's mapping of statuses (spec E, D3.7), with what docs/decisions/0013 changes."""
    output = _output(http_status)
    got = (output.status.label, fetch_status(output).label, politeness_outcome(output).value)
    assert got == (protocol, fetch, queue)


def test_every_protocol_status_has_a_fetch_status() -> None:
    """The table is total."""
    assert set(FETCH_STATUS) == set(ProtocolStatus)
    assert FETCH_STATUS[ProtocolStatus.ROBOTS_DENIED] is FetchStatus.FETCH_GONE


def test_what_the_guard_refused_was_not_asked() -> None:
    """A refusal of our own says nothing about the host, and costs no delay."""
    output = ProtocolOutput(status=ProtocolStatus.BLOCKED, message="address 10.0.0.1")
    assert politeness_outcome(output) is Outcome.NOT_ASKED


@pytest.mark.parametrize(
    ("http_status", "value", "wait"),
    [
        (503, "120", 120_000),
        (429, " 7 ", 7_000),
        (503, "Tue, 14 Nov 2023 22:13:50 GMT", 30_000),
        (503, "Tue, 14 Nov 2000 22:13:50 GMT", 0),
        (503, "soon", None),
        (503, "-5", None),
        (503, "99999999999999", None),
        (503, "", None),
        (500, "120", None),
    ],
)
def test_retry_after(http_status: int, value: str, wait: int | None) -> None:
    """RFC 9110 10.2.3: seconds or a date; for 429 and 503 only."""
    assert retry_after_ms(_output(http_status, ("Retry-After", value)), NOW) == wait
