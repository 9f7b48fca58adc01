"""What the golden table does not reach: our own order, noarchive, dates in other spellings."""

from __future__ import annotations

import pytest

from filbert.model.records import Inlink
from filbert.plugins.index_filters.anchor import anchors_of
from filbert.plugins.index_filters.dates import parse_date


def test_anchors_once_per_host() -> None:
    """A text counts once for each host that says it; the order is that of the linking pages."""
    links = [
        ("http://b.test/1", "nuts"),
        ("http://a.test/2", "nuts"),
        ("http://a.test/1", "nuts"),
        ("http://a.test/1", ""),
        ("http://a.test/3", "more"),
    ]
    got = anchors_of(Inlink(from_url=url, anchor=text) for url, text in links)
    assert got == ["nuts", "more", "nuts"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tue, 17 May 2024 10:11:12 GMT", 1715940672000),
        ("Tuesday, 17-May-24 10:11:12 GMT", 1715940672000),
        ("2024-05-17T12:11:12+02:00", 1715940672000),
        ("2024-05-17T10:11:12Z", 1715940672000),
        ("2024/05/17 10:11:12.5", 1715940672005),
        ("01 01 1999 00:00:00 EST", 915166800000),
        ("Fri, 17 May 2024 10:11:12 XYZ", None),
        ("Fri, 17 May 0000 10:11:12 GMT", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates(text: str, expected: int | None) -> None:
    """A date is read in the styles that servers use; an unknown zone or year makes it none."""
    got = parse_date(text)
    assert got == expected
