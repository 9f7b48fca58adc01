"""Statuses of a page, of a fetch, of a protocol exchange and of a parse.

Guarantee: the numbers are Nutch's (`CrawlDatum`, `ProtocolStatus`, `ParseStatus`), so that data
moves between the two without a table in between; the names are Nutch's in lower case.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["FetchStatus", "PageStatus", "ParseMajor", "ParseMinor", "ProtocolStatus"]


class PageStatus(IntEnum):
    """What the crawldb knows of a page (`CrawlDatum.STATUS_DB_*`)."""

    DB_UNFETCHED = 1
    DB_FETCHED = 2
    DB_GONE = 3
    DB_REDIR_TEMP = 4
    DB_REDIR_PERM = 5
    DB_NOTMODIFIED = 6
    DB_DUPLICATE = 7
    DB_ORPHAN = 8
    DB_PARSE_FAILED = 9

    @property
    def label(self) -> str:
        """Nutch's name, such as `db_unfetched`."""
        return self.name.lower()


class FetchStatus(IntEnum):
    """What came of one fetch (`CrawlDatum.STATUS_FETCH_*`, and `STATUS_PARSE_FAILED`)."""

    FETCH_SUCCESS = 33
    FETCH_RETRY = 34
    FETCH_REDIR_TEMP = 35
    FETCH_REDIR_PERM = 36
    FETCH_GONE = 37
    FETCH_NOTMODIFIED = 38
    PARSE_FAILED = 69

    @property
    def label(self) -> str:
        """Nutch's name, such as `fetch_success`."""
        return self.name.lower()


class ProtocolStatus(IntEnum):
    """How the exchange with a server ended (`org.apache.nutch.protocol.ProtocolStatus`)."""

    SUCCESS = 1
    FAILED = 2
    PROTO_NOT_FOUND = 10
    GONE = 11
    MOVED = 12
    TEMP_MOVED = 13
    NOTFOUND = 14
    RETRY = 15
    EXCEPTION = 16
    ACCESS_DENIED = 17
    ROBOTS_DENIED = 18
    REDIR_EXCEEDED = 19
    NOTFETCHING = 20
    NOTMODIFIED = 21
    WOULDBLOCK = 22
    BLOCKED = 23

    @property
    def label(self) -> str:
        """Nutch's name in lower case, such as `temp_moved`."""
        return self.name.lower()


class ParseMajor(IntEnum):
    """Whether a document was parsed (`ParseStatus` major code)."""

    NOTPARSED = 0
    SUCCESS = 1
    FAILED = 2


class ParseMinor(IntEnum):
    """Why, or with what, a parse ended (`ParseStatus` minor code)."""

    OK = 0
    SUCCESS_REDIRECT = 100
    FAILED_EXCEPTION = 200
    FAILED_TRUNCATED = 202
    FAILED_INVALID_FORMAT = 203
    FAILED_MISSING_PARTS = 204
    FAILED_MISSING_CONTENT = 205
