"""Heads of replies: whatever can be read, is; nothing is changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.plugins.protocols.connect_to import ConnectTo
from filbert.plugins.protocols.heads import (
    StatusLine,
    header_pairs,
    last_head,
    split_head,
    status_line,
)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\n", StatusLine(200, "http/1.1")),
        (b"HTTP/2 204\r\n", StatusLine(204, "http/2")),
        (b"http/1.0 404\n", StatusLine(404, "http/1.0")),
        (b"HTTP 200 OK", StatusLine(200, "http/1.0")),
        (b"ICY 200 OK\r\n", StatusLine(200, "icy")),
        (b"HTTP/1.1\t 301 X", StatusLine(301, "http/1.1")),
        (b"HTTP/1.1 20 OK", None),
        (b"HTTP/1.1 2000 OK", None),
        (b"<html>200", None),
        (b"", None),
    ],
)
def test_status_lines(head: bytes, expected: StatusLine | None) -> None:
    """A status is three digits behind a protocol, however it is spelt."""
    assert status_line(head) == expected


def test_headers() -> None:
    """Order, case and doubles are kept; folded lines are joined; what is no header is left out."""
    head = (
        b"HTTP/1.1 200 OK\r\nA: 1\r\nbroken\r\na : 2\r\n  folded\r\n: none\r\nU: \xc3\xa4\n"
        b"L: \xe4\r\nEmpty:\r\n\r\n"
    )
    assert header_pairs(head) == (
        ("A", "1"),
        ("a", "2 folded"),
        ("U", "ä"),
        ("L", "ä"),
        ("Empty", ""),
    )


def test_the_last_head_counts() -> None:
    """1xx replies before it and trailers behind it are not the head; 101 ends the talk."""
    final = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
    early = b"HTTP/1.1 103 E\r\n\r\n"
    assert last_head(final) == final
    assert last_head(early + early + final) == final
    assert last_head(early + final + b"X-Trailer: 1\r\n\r\n") == final
    assert last_head(early) == early
    assert last_head(b"HTTP/1.1 101 S\r\n\r\n" + final) == b"HTTP/1.1 101 S\r\n\r\n"
    assert last_head(b"HTTP/1.1 200 OK\r\nA: b\r\n") == b"HTTP/1.1 200 OK\r\nA: b\r\n"


@given(st.binary(max_size=200))
def test_noise_never_raises(data: bytes) -> None:
    """All functions are total, and lose no byte when they split."""
    header_pairs(data)
    status_line(data)
    last_head(data)
    parts = split_head(data)
    assert parts is None or parts[0] + parts[1] == data


def test_connect_to() -> None:
    """The first entry that fits decides; blanks stand for any, or for the same."""
    lead = ConnectTo(
        ("A.test:80:127.0.0.1:8080", "*.test::[::1]:", ":9:10.0.0.1:", "b.example:443::8443")
    )
    asked = [
        *(("a.test", 80), ("a.test", 81), ("test", 80), ("x.example", 9)),
        *(("b.example", 443), ("c.example", 80)),
    ]
    assert [lead.target(host, port) for host, port in asked] == [
        ("127.0.0.1", 8080),
        ("[::1]", 81),
        ("test", 80),
        ("10.0.0.1", 9),
        ("b.example", 8443),
        ("c.example", 80),
    ]
