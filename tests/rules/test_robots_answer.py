"""What an answer to a request for robots.txt means."""

from __future__ import annotations

import pytest

from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.rules.robots_answer import RobotsMeaning, is_allowlisted, robots_meaning
from filbert.settings.robots import RobotsSettings


def _meaning(http_status: int | None, message: str = "", **settings: bool) -> RobotsMeaning:
    location = b"/other" if http_status in {301, 302, 303, 307, 308} else None
    output = ProtocolOutput(
        status=ProtocolStatus.EXCEPTION,
        http_status=http_status,
        message=message,
        location=location,
    )
    return robots_meaning(output, RobotsSettings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        (200, "parse"),
        (206, "parse"),
        (301, "follow"),
        (308, "follow"),
        (304, "allow"),
        (401, "allow"),
        (403, "allow"),
        (404, "allow"),
        (410, "allow"),
        (429, "defer"),
        (500, "defer"),
        (503, "defer"),
        (None, "defer"),
    ],
)
def test_the_table(status: int | None, meaning: str) -> None:
    """Each status has its meaning: RFC 9309 section 2.3.1, and Nutch's where it leaves a choice."""
    assert _meaning(status) == meaning


@pytest.mark.parametrize(
    ("cut", "meaning"),
    [("disconnect", "defer"), ("time", "defer"), ("length", "parse"), (None, "parse")],
)
def test_a_file_that_broke_off_is_not_obeyed_as_if_whole(cut: str | None, meaning: str) -> None:
    """What it lost may forbid us; what our own limit cut off may not be read at all."""
    output = ProtocolOutput(status=ProtocolStatus.EXCEPTION, http_status=200, truncated=cut)
    assert robots_meaning(output, RobotsSettings()) == meaning


def test_403_can_forbid_all() -> None:
    """`robots.allow_403 = false` reads 403 as a refusal."""
    assert _meaning(403, allow_403=False) == RobotsMeaning.FORBID


@pytest.mark.parametrize("status", [429, 500, None])
def test_without_deferral_trouble_allows_all(status: int | None) -> None:
    """`robots.defer_5xx = false` is Nutch's switch of the same effect."""
    assert _meaning(status, defer_5xx=False) == RobotsMeaning.ALLOW


def test_a_redirect_without_a_target_allows_all() -> None:
    """There is nothing to follow, and no rule was given."""
    output = ProtocolOutput(status=ProtocolStatus.MOVED, http_status=301)
    assert robots_meaning(output, RobotsSettings()) == RobotsMeaning.ALLOW


@pytest.mark.parametrize("message", ["dns_failed: no such host", "address_refused: 10.0.0.1"])
def test_a_host_that_cannot_be_asked_is_dead(message: str) -> None:
    """To wait for a host without an address would only hold up the fetch."""
    assert _meaning(None, message) == RobotsMeaning.DEAD


def test_a_missing_file_of_another_protocol_allows_all() -> None:
    """FTP has no status 404, but it can miss a file."""
    output = ProtocolOutput(status=ProtocolStatus.NOTFOUND)
    assert robots_meaning(output, RobotsSettings()) == RobotsMeaning.ALLOW


def test_the_allowlist_is_a_suffix_match_on_labels() -> None:
    """`example.org` covers its subdomains, not `badexample.org`."""
    names = ("a.example.org", "EXAMPLE.org", "badexample.org")
    assert [is_allowlisted(name, ("Example.org",)) for name in names] == [True, True, False]
