"""Signs of a trap in a URL: each named with its evidence, none on an ordinary page."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.model.records import Verdict
from filbert.plugins.url_filters.traps import TrapFilter
from filbert.rules.traps import TrapLimits, TrapSign, trap_sign
from filbert.settings import Settings
from filbert.settings.traps import TrapsSettings

LIMITS = TrapLimits.from_settings(TrapsSettings())
SITE = "http://example.com"


@pytest.mark.parametrize(
    ("rest", "name", "evidence"),
    [
        ("/a/a/a/a/", "repeating_path", "/a comes 4 times in a row"),
        ("/x/a/b/a/b/a/b/a/b/y", "repeating_path", "/a/b comes 4 times in a row"),
        ("/en/img/css/js" * 4, "repeating_path", "/en/img/css/js comes 4 times in a row"),
        ("//a//b//c", "empty_segments", "3 empty segments (`//`) in the path"),
        ("/" + "/".join(map(str, range(26))), "deep_path", "26 segments in the path"),
        ("/s?" + "&".join(f"f{n}=1" for n in range(21)), "many_parameters", "21 parameters"),
        (
            "/s?" + "&".join(["color=red"] * 9),
            "many_parameters",
            "color stands 9 times in the query",
        ),
        ("/calendar/7749/03", "far_date", "a date in the year 7749"),
        ("/events/1234-05/", "far_date", "a date in the year 1234"),
        ("/view?month=2077-03", "far_date", "a date in the year 2077"),
        ("/c.php?year=9999", "far_date", "a date in the year 9999"),
    ],
)
def test_signs(rest: str, name: str, evidence: str) -> None:
    """What a person can check stands beside the name."""
    assert trap_sign(SITE + rest, LIMITS) == TrapSign(name, evidence)


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "/",
        "/a/a/a/index.html",
        "/2024/12/31/title",
        "/archive/1999/",
        "/calendar/2026/12",
        "/product/7749/03",  # a number of its own, and no date
        "/search?q=year+7749",
        "/a//b",
        "/x?from=2026-01-01&to=2026-12-31",
        "/s?" + "&".join(f"f{n}=1" for n in range(20)),
        "/files/1/2/3/4/5/6/7/8/9/10",
        "/%E3%81%82/%E3%81%82/x",
    ],
)
def test_ordinary_pages_bear_none(rest: str) -> None:
    """A filter that takes them away would be worse than a trap."""
    assert trap_sign(SITE + rest, LIMITS) is None


@pytest.mark.parametrize("url", ["", "nonsense", "mailto:a@b.c", "http://", "http://[::1"])
def test_what_is_no_url_is_not_judged(url: str) -> None:
    """Other filters say what is wrong with it."""
    assert trap_sign(url, LIMITS) is None


@given(st.text(max_size=200))
def test_no_text_raises(rest: str) -> None:
    """Whatever a page links to, there is an answer."""
    trap_sign(f"{SITE}/{rest}", LIMITS)


@pytest.mark.parametrize("growth", ["a/", "ab/c/", "/"])
def test_a_path_that_grows_is_found_out(growth: str) -> None:
    """Each kind of growth ends within a few steps, and does not come back."""
    signs = [trap_sign(f"{SITE}/x/{growth * times}y", LIMITS) for times in range(40)]
    first = next(number for number, sign in enumerate(signs) if sign)
    assert first <= 4
    assert all(signs[first:])


def test_the_filter_says_which_sign() -> None:
    """As a rule that `filterchecker` and `explain` show; the limits are part of its print."""
    judge = TrapFilter.from_settings(Settings(), Path())
    assert judge.judge(f"{SITE}/a").accepted
    assert judge.judge(f"{SITE}/a/a/a/a/") == Verdict(
        accepted=False, reason="traps", rule="repeating_path: /a comes 4 times in a row"
    )
    other = TrapFilter.from_settings(Settings(traps=TrapsSettings(repeats=5)), Path())
    assert other.judge(f"{SITE}/a/a/a/a/").accepted
    assert other.fingerprint() != judge.fingerprint()
