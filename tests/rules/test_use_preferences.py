"""What a site says of the use of its pages, wherever it says it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.rules.robots import parse_robots
from filbert.rules.use_preferences import parsed_preferences, use_preferences

SITE = "https://example.com"
ROBOTS = """\
Content-Signal: search=yes
User-agent: *
Content-Signal: ai-train=no, ai-input=yes
Content-Usage: train-ai=n
Content-Usage: /open/ train-ai=y
Content-Usage: /*.pdf$ search=n
Allow: /

User-agent: otherbot
Content-Usage: search=n
Disallow: /
"""


def uses(path: str, *agents: str, robots: str = ROBOTS) -> tuple[str, ...]:
    """Return what a robots.txt says of a path."""
    return parse_robots(robots.encode(), agents or ("mybot",)).uses(SITE + path)


def preferences(**given: Any) -> dict[str, tuple[str, ...]]:
    """Return what is said, with nothing but what is given."""
    whole: dict[str, Any] = {"robots_txt": (), "headers": {}, "meta": {}, "agents": ("mybot",)}
    return use_preferences(**{**whole, **given})


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("train-ai=n", {"ai-train": "no"}),
        ("search=y, train-ai=n", {"search": "yes", "ai-train": "no"}),
        ("search=yes,ai-train=no", {"search": "yes", "ai-train": "no"}),
        (" AI-Train = NO ", {"ai-train": "no"}),
        ("bots=?1, search=maybe", {}),
        ("nonsense", {}),
    ],
)
def test_expressions(statement: str, said: dict[str, str]) -> None:
    """AIPREF says y and n, Content-Signal yes and no; what is neither says nothing."""
    assert parsed_preferences(statement) == said


def test_the_most_specific_lines_of_robots_txt_hold() -> None:
    """Of each field by itself; lines before all groups are for everybody."""
    search, ai = "search=yes (line 1)", "ai-train=no, ai-input=yes (line 3)"
    signals = (f"Content-Signal: {search}", f"Content-Signal: {ai}")
    assert set(uses("/a")) == {*signals, "Content-Usage: train-ai=n (line 4)"}
    assert set(uses("/open/a")) == {*signals, "Content-Usage: train-ai=y (line 5)"}
    assert set(uses("/a.pdf")) == {*signals, "Content-Usage: search=n (line 6)"}


def test_a_group_of_ours_is_ours_alone() -> None:
    """As Allow and Disallow: the group that names us goes before that of everybody."""
    search, usage = "Content-Signal: search=yes (line 1)", "Content-Usage: search=n (line 10)"
    assert uses("/a", "otherbot") == (search, usage)
    assert uses("/a", robots="User-agent: *\nDisallow: /x\n") == ()


def test_lines_about_use_do_not_part_agents() -> None:
    """Other records do not interfere with the rules (RFC 9309 section 2.2.4)."""
    text = "User-agent: mybot\nContent-Signal: ai-train=no\nUser-agent: b\nDisallow: /x\n"
    rules = parse_robots(text.encode(), ["mybot"])
    assert not rules.judge(f"{SITE}/x").allowed
    assert rules.uses(f"{SITE}/y") == ("Content-Signal: ai-train=no (line 2)",)


def test_the_strictest_answer_holds_and_each_statement_is_kept() -> None:
    """Who builds a corpus reads the first value; who asks why reads the others."""
    got = preferences(
        robots_txt=("Content-Signal: ai-train=yes (line 3)",),
        headers={"content-usage": ("train-ai=n",), "tdm-reservation": ("1",)},
        meta={"robots": ("index, NoAI, noimageai",), "tdm-policy": ("https://a.example/policy",)},
    )
    assert got == {
        "use.ai-train": (
            "no",
            "yes: robots.txt: Content-Signal: ai-train=yes (line 3)",
            "no: header: Content-Usage: train-ai=n",
            "no: meta robots: index, NoAI, noimageai",
        ),
        "use.ai-train-images": ("no", "no: meta robots: index, NoAI, noimageai"),
        "use.tdm": ("no", "no: header: tdm-reservation: 1"),
        "use.tdm-policy": (
            "https://a.example/policy",
            "https://a.example/policy: meta: tdm-policy",
        ),
    }


def test_directives_of_other_robots_are_not_ours() -> None:
    """`X-Robots-Tag: otherbot: noai` says nothing to us, `mybot: noai` does."""
    assert preferences(headers={"x-robots-tag": ("otherbot: noai",)}) == {}
    assert list(preferences(headers={"x-robots-tag": ("MyBot: noai",)})) == ["use.ai-train"]
    assert list(preferences(meta={"mybot": ("noai",)})) == ["use.ai-train"]


def test_nothing_said_is_no_entry() -> None:
    """An answer is never made up."""
    assert preferences(headers={"tdm-reservation": ("2",)}, meta={"robots": ("all",)}) == {}


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_raises(robots: str, header: str) -> None:
    """Whatever stands there, there is an answer."""
    said = uses("/", robots=f"User-agent: *\nContent-Usage: {robots}\n")
    preferences(robots_txt=said, headers={"content-usage": (header,), "x-robots-tag": (header,)})
