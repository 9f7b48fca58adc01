"""What is remembered of a host between requests, parts, rounds and resumes.

Guarantee: a `HostState` is one row of `hostdb`, and one kind of frame of the fetch journal. The
key `host` is a queue key (host, domain or address) for what concerns politeness, or an origin
(`https://example.com`, default ports left out) for a robots.txt: RFC 9309 section 2.3 makes
robots.txt a matter of scheme, host and port, while a delay is owed to the machine behind them.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HostState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostState:
    """Politeness state of a queue, or the robots record of an origin. Times in epoch ms.

    Attributes:
        host: Queue key, or origin.
        last_request_end: End of the last request to it.
        delay_ms: Delay in force at that time.
        backoff_until: No request before this time (Retry-After, failures, deferral).
        failures: Failures in a row.
        robots_url: Where its robots.txt was found, after redirects.
        robots_time: When it was asked for.
        robots_status: HTTP status of the answer; None: none is known.
        robots_body: The bytes of the file, cut at `robots.size_limit`.
    """

    host: str
    last_request_end: int | None = None
    delay_ms: int | None = None
    backoff_until: int | None = None
    failures: int = 0
    robots_url: str | None = None
    robots_time: int | None = None
    robots_status: int | None = None
    robots_body: bytes | None = None
