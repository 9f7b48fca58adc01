"""What becomes of the target of a redirect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from filbert.model.records import Verdict
from filbert.plugins.url_chain import UrlChain
from filbert.rules.redirects import (
    Redirect,
    RedirectJudge,
    RedirectPolicy,
    RedirectVerdict,
    spellings,
)
from filbert.settings import Settings
from filbert.testing.records import fetch_item

if TYPE_CHECKING:
    from filbert.plugins.contracts import Scope


class _Normalizer:
    """Lower-case percent escapes, as some servers cannot bear them."""

    name = "toy"

    def normalize(self, url: str, scope: Scope) -> str | None:
        return url.replace("%2c", "%2C")

    def fingerprint(self) -> str | None:
        return None


class _Filter:
    name = "toy"

    def judge(self, url: str) -> Verdict:
        return Verdict(accepted="bad" not in url, reason="toy")

    def fingerprint(self) -> str | None:
        return None


CHAIN = UrlChain([_Normalizer()], [_Filter()])  # type: ignore[list-item]


def _judge(
    location: bytes | None,
    *,
    url: str = "http://a.com/x",
    hop: int = 0,
    seen: frozenset[tuple[str, bytes]] = frozenset(),
    temporary: bool = False,
    raw_url: bytes | None = None,
    **policy: object,
) -> Redirect:
    judge = RedirectJudge(
        RedirectPolicy(**{"follow_max": 5, **policy}),  # type: ignore[arg-type]
        CHAIN,
        lambda host, domain: domain == "a.com",
    )
    item = replace(fetch_item(url, hop=hop), raw_url=raw_url)
    return judge.judge(item, location, temporary=temporary, seen=seen)


@pytest.mark.parametrize(
    ("location", "policy", "verdict"),
    [
        (b"/y", {}, "followed"),
        (b"http://www.a.com/y", {}, "followed"),
        (b"http://b.com/", {}, "linked"),
        (b"/y", {"follow_max": 0}, "linked"),
        (None, {}, "no_target"),
        (b"javascript:alert(1)", {}, "no_url"),
        (b"http://[", {}, "no_url"),
        (b"/" + b"y" * 100, {"length_max": 50}, "too_long"),
        (b"/" + b"y" * 5000, {"length_max": -1}, "followed"),
        (b"/bad", {}, "filtered: toy"),
        (b"/x", {}, "self"),
        (b"http://a.com/x#part", {}, "self"),
        (b"/y", {"ignore_internal": True}, "internal"),
        (b"http://b.com/", {"ignore_internal": True}, "linked"),
        (b"http://www.a.com/", {"ignore_external": True}, "external"),
        (b"http://www.a.com/", {"ignore_external": True, "by_domain": True}, "followed"),
    ],
)
def test_verdicts(location: bytes | None, policy: dict[str, object], verdict: str) -> None:
    """Each target has a named verdict."""
    assert str(_judge(location, **policy)) == verdict  # type: ignore[arg-type]


def test_beyond_the_maximum_it_waits_for_the_next_round() -> None:
    """`http.redirect_max` hops are followed; then the target is linked, or dropped if asked."""
    got = [str(_judge(b"/y", hop=hop, follow_max=2)) for hop in (0, 1, 2)]
    assert got == ["followed", "followed", "linked"]
    assert str(_judge(b"/y", hop=2, follow_max=2, skip_exceeded=True)) == "exceeded"


def test_a_loop_ends_when_both_forms_were_seen() -> None:
    """A target of the chain, asked for with the same bytes, is not asked again."""
    seen = frozenset({spellings("http://a.com/y", None)})
    assert str(_judge(b"/y", seen=seen)) == "loop"


def test_another_spelling_of_the_key_is_asked_for_once_with_its_bytes() -> None:
    """perma#2169: %2C and %2c are one key; the server gets the bytes that it asked for."""
    got = _judge(b"/x%2c", url="http://a.com/x%2C")
    assert got == Redirect(
        verdict=RedirectVerdict.FOLLOWED,
        url="http://a.com/x%2C",
        raw_url=b"http://a.com/x%2c",
        repr_url="http://a.com/x%2C",
    )
    again = _judge(b"/x%2c", url="http://a.com/x%2C", raw_url=b"http://a.com/x%2c")
    assert again.verdict is RedirectVerdict.SELF


def test_the_key_itself_is_never_linked() -> None:
    """A spelling that may not be followed is dropped: the crawldb has the page already."""
    got = _judge(b"/x%2c", url="http://a.com/x%2C", follow_max=0)
    assert got.verdict is RedirectVerdict.SELF


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/caf\u00e9".encode(), "http://a.com/caf%C3%A9"),
        (b"/caf\xe9", "http://a.com/caf%C3%A9"),
        (b'"http://a.com/q"', "http://a.com/q"),
        (b"  y  ", "http://a.com/y"),
        (b"//a.com/z", "http://a.com/z"),
        (b"?q=1", "http://a.com/x?q=1"),
        (b"https:////a.com/y", "https://a.com/y"),
        (b"/a b", "http://a.com/a%20b"),
    ],
)
def test_location_is_read_as_browsers_do(location: bytes, url: str) -> None:
    """scrapy#2321, #2363: raw UTF-8, Latin-1, quotes and blanks are all met in the field."""
    assert _judge(location).url == url


def test_the_representative_url() -> None:
    """Nutch D13: of a temporary redirect from the root, the root stays the page's name."""
    got = _judge(b"/y/z", url="http://a.com/", temporary=True)
    assert got.repr_url == "http://a.com/"
    assert _judge(b"/y/z").repr_url == "http://a.com/y/z"


def test_settings_become_a_policy() -> None:
    """The link scope applies to redirects only when `parse.ignore_also_redirects` says so."""
    settings = Settings()
    parse = settings.parse.model_copy(update={"ignore_external_links": True})
    chosen = settings.model_copy(update={"parse": parse})
    assert RedirectPolicy.from_settings(chosen).ignore_external
    off = parse.model_copy(update={"ignore_also_redirects": False})
    assert not RedirectPolicy.from_settings(
        chosen.model_copy(update={"parse": off})
    ).ignore_external
