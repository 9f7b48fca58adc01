"""What a page says to robots, and where it sends them."""

from __future__ import annotations

import pytest

from filbert.rules.plain_links import plain_links
from filbert.rules.refresh import parse_refresh
from filbert.rules.robots_tags import NOTHING_SAID, RobotsTags, from_header, from_meta

NOINDEX = RobotsTags(noindex=True)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["noindex, nofollow"], RobotsTags(noindex=True, nofollow=True)),
        (["none"], RobotsTags(noindex=True, nofollow=True)),
        (["googlebot: noindex"], NOTHING_SAID),
        (["otherbot: none", "MyBot: noindex"], NOINDEX),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST"], NOTHING_SAID),
        (["NOARCHIVE"], RobotsTags(noarchive=True)),
        (["noindexed"], NOTHING_SAID),
        ([], NOTHING_SAID),
    ],
)
def test_header_directives(values: list[str], expected: RobotsTags) -> None:
    """A directive for all robots counts, one for another robot does not, one for us does."""
    assert from_header(values, ["mybot"]) == expected


def test_meta_directives() -> None:
    """`robots` and our own name are for us, other names are not."""
    assert from_meta("Robots", "NoIndex", ["mybot"]) == NOINDEX
    assert from_meta("MyBot", "noindex", ["mybot"]) == NOINDEX
    assert from_meta("googlebot", "noindex", ["mybot"]) == NOTHING_SAID


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0;url=/a", (0, "/a")),
        ("5; URL = '/a b'", (5, "/a b")),
        ("3", (3, "")),
        ("0, /x", (0, "/x")),
        ("1.5;url=/f", (1, "/f")),
        ('0;url="/q"rest', (0, "/q")),
        ("x", None),
        ("-1;url=/neg", None),
        ("", None),
        (";url=/x", None),
        ("9" * 5000 + ";/a", (2**31 - 1, "/a")),
        ("0" * 5000 + "7;/a", (7, "/a")),
    ],
)
def test_refresh(content: str, expected: tuple[int, str] | None) -> None:
    """A refresh is read as browsers read it (WHATWG, shared declarative refresh steps)."""
    assert parse_refresh(content) == expected


def test_addresses_in_plain_text() -> None:
    """An address ends before the marks of the sentence around it."""
    text = "See http://a.com/x. (and https://b.org/w_(y)) or ftp://c/d, <http://e/f>; xhttp://no/"
    assert list(plain_links(text)) == [
        "http://a.com/x", "https://b.org/w_(y)", "ftp://c/d", "http://e/f",
    ]  # fmt: skip
