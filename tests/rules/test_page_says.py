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
        (["unavailable_after: 2010-06-25"], RobotsTags(unavailable_after=1_277_424_000_000)),
        (["NOARCHIVE"], RobotsTags(noarchive=True)),
        (["noindexed"], NOTHING_SAID),
        ([], NOTHING_SAID),
    ],
)
def test_header_directives(values: list[str], expected: RobotsTags) -> None:
    """A directive for all robots counts, one for another robot does not, one for us does."""
    assert from_header(values, ["mybot"]) == expected


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("unavailable_after: 25 Jun 2010 15:00:00 PST", 1_277_506_800_000),
        ("Unavailable_After: Friday, 25-Jun-10 15:00:00 GMT, noarchive", 1_277_478_000_000),
        ("noarchive, unavailable_after: 2010-06-25T15:00:00+02:00", 1_277_470_800_000),
        ("unavailable_after: 2010-06-25", 1_277_424_000_000),
        ("unavailable_after: soon", None),
        ("unavailable_after", None),
        ("unavailable_after: 0001-01-01T00:00:00+14:00", -62_135_647_200_000),
    ],
)
def test_a_page_with_a_date(text: str, instant: int | None) -> None:
    """RFC 822, RFC 850 and ISO 8601 dates are read; what is none says nothing."""
    assert from_header([text], ["mybot"]).unavailable_after == instant


def test_after_its_date_a_page_is_not_to_be_indexed() -> None:
    """From that instant on; of two dates the earlier counts."""
    said = RobotsTags(unavailable_after=500) | RobotsTags(unavailable_after=700) | NOTHING_SAID
    assert [said.at(now).noindex for now in (499, 500)] == [False, True]
    assert NOTHING_SAID.at(10**15) == NOTHING_SAID


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
