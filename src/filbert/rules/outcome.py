"""What an exchange with a server means for the page: HTTP status → ProtocolStatus → FetchStatus.

Guarantee: two tables, total: every HTTP status has a ProtocolStatus, every ProtocolStatus a
FetchStatus. Where they differ from Nutch, docs/decisions/0013 says why: 203 is a success, and a
client error of one page does not count against its host.
Source: Nutch `HttpBase.getProtocolOutput`, `FetcherThread.run` (spec D3.7 and E).
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from filbert.model.statuses import FetchStatus, ProtocolStatus
from filbert.rules.host_queue import Outcome

if TYPE_CHECKING:
    from filbert.model.records import ProtocolOutput

__all__ = [
    "FETCH_STATUS",
    "fetch_status",
    "http_protocol_status",
    "politeness_outcome",
    "retry_after_ms",
]

# Nutch: 200 alone is a success. 203 is a page that a proxy on the way has changed: a success too.
_HTTP = {
    200: ProtocolStatus.SUCCESS,
    203: ProtocolStatus.SUCCESS,
    302: ProtocolStatus.TEMP_MOVED,
    303: ProtocolStatus.TEMP_MOVED,
    304: ProtocolStatus.NOTMODIFIED,
    307: ProtocolStatus.TEMP_MOVED,
    400: ProtocolStatus.GONE,
    401: ProtocolStatus.ACCESS_DENIED,
    404: ProtocolStatus.NOTFOUND,
    410: ProtocolStatus.GONE,
}

FETCH_STATUS = {
    ProtocolStatus.SUCCESS: FetchStatus.FETCH_SUCCESS,
    ProtocolStatus.FAILED: FetchStatus.FETCH_RETRY,
    ProtocolStatus.PROTO_NOT_FOUND: FetchStatus.FETCH_RETRY,
    ProtocolStatus.GONE: FetchStatus.FETCH_GONE,
    ProtocolStatus.MOVED: FetchStatus.FETCH_REDIR_PERM,
    ProtocolStatus.TEMP_MOVED: FetchStatus.FETCH_REDIR_TEMP,
    ProtocolStatus.NOTFOUND: FetchStatus.FETCH_GONE,
    ProtocolStatus.RETRY: FetchStatus.FETCH_RETRY,
    ProtocolStatus.EXCEPTION: FetchStatus.FETCH_RETRY,
    ProtocolStatus.ACCESS_DENIED: FetchStatus.FETCH_GONE,
    ProtocolStatus.ROBOTS_DENIED: FetchStatus.FETCH_GONE,
    ProtocolStatus.REDIR_EXCEEDED: FetchStatus.FETCH_RETRY,
    ProtocolStatus.NOTFETCHING: FetchStatus.FETCH_RETRY,
    ProtocolStatus.NOTMODIFIED: FetchStatus.FETCH_NOTMODIFIED,
    ProtocolStatus.WOULDBLOCK: FetchStatus.FETCH_RETRY,
    ProtocolStatus.BLOCKED: FetchStatus.FETCH_RETRY,
}

# No request left: our own limits, bugs and guards say nothing about the host.
_OURS = frozenset(
    {
        ProtocolStatus.BLOCKED,
        ProtocolStatus.FAILED,
        ProtocolStatus.PROTO_NOT_FOUND,
        ProtocolStatus.ROBOTS_DENIED,
        ProtocolStatus.WOULDBLOCK,
    }
)
_UNASKED = frozenset({"address_refused", "malformed_url"})
_SECONDS = re.compile(r"\d{1,9}")
_ASKS_FOR_PATIENCE = frozenset({429, 503})
_ABOUT_THE_HOST = frozenset({403, 408, 429})  # 4xx by which a host says: not you, not now


def http_protocol_status(http_status: int) -> ProtocolStatus:
    """Return the ProtocolStatus of an HTTP status; what has no other meaning is EXCEPTION."""
    known = _HTTP.get(http_status)
    if known is not None:
        return known
    return ProtocolStatus.MOVED if 300 <= http_status < 400 else ProtocolStatus.EXCEPTION


def fetch_status(output: ProtocolOutput) -> FetchStatus:
    """Return what becomes of the page."""
    return FETCH_STATUS[output.status]


def politeness_outcome(output: ProtocolOutput) -> Outcome:
    """Return what the exchange means for the host's queue.

    Silence, 5xx, and the refusals 403, 408 and 429 count against it; any other answer is the sign
    of a server that is well, and ends a row of failures. An answer from an archive says nothing.
    """
    if output.archived is not None:
        return Outcome.NOT_ASKED
    if output.status in _OURS or output.message.partition(":")[0] in _UNASKED:
        return Outcome.NOT_ASKED
    if output.status is not ProtocolStatus.EXCEPTION:
        return Outcome.ANSWERED
    status = output.http_status
    if status is None or status >= 500 or status in _ABOUT_THE_HOST:
        return Outcome.FAILED
    return Outcome.ANSWERED


def retry_after_ms(output: ProtocolOutput, now: int) -> int | None:
    """Return how long a 429 or 503 asks us to wait, in ms from `now`; None: it does not say.

    Retry-After is seconds or a date (RFC 9110 section 10.2.3); a date that is past is 0.
    """
    if output.http_status not in _ASKS_FOR_PATIENCE or output.archived is not None:
        return None
    value = (output.header("retry-after") or "").strip()
    if _SECONDS.fullmatch(value):
        return int(value) * 1000
    try:
        until = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0, round(until * 1000) - now)
