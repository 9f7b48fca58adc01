"""The chain of normalisers and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import pytest

from filbert.model.records import Verdict
from filbert.plugins.contracts import Scope
from filbert.plugins.registry import PluginRepository
from filbert.plugins.url_chain import UrlChain
from filbert.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


class _Fake:
    """Normaliser and filter in one; counts its calls."""

    name = "fake"

    def __init__(self, answer: str | None = "", *, print_: str | None = "1") -> None:
        self.answer = answer
        self.print = print_
        self.calls = 0

    @classmethod
    def from_settings(cls, settings: Settings, folder: Path) -> Self:
        return cls()

    def fingerprint(self) -> str | None:
        return self.print

    def normalize(self, url: str, scope: Scope) -> str | None:
        self.calls += 1
        return None if self.answer is None else url + self.answer

    def judge(self, url: str) -> Verdict:
        self.calls += 1
        return Verdict(accepted=self.answer is not None, reason="fake", rule="r")


class _Broken(_Fake):
    name = "broken"

    def normalize(self, url: str, scope: Scope) -> str | None:
        raise ValueError(url)

    def judge(self, url: str) -> Verdict:
        raise ValueError(url)


def test_a_broken_plugin_loses_no_url() -> None:
    """An exception of a plugin is counted, and the URL goes on as if it were not there."""
    chain = UrlChain([_Broken(print_=None)], [_Broken(print_=None)])
    assert chain.apply("http://a/", Scope.OUTLINK).url == "http://a/"
    assert chain.errors == {"broken": 2}


def test_the_first_no_decides() -> None:
    """Filters after the one that says no are not asked; the steps show each plugin's part."""
    last = _Fake()
    chain = UrlChain([_Fake("x")], [_Fake(None), last])
    verdict = chain.apply("http://a/", Scope.OUTLINK)
    assert (verdict.url, verdict.reason, verdict.rule) == (None, "fake", "r")
    assert [(s.plugin, s.input, s.output) for s in verdict.steps] == [
        ("fake", "http://a/", "http://a/x"),
        ("fake", "http://a/x", None),
    ]
    assert last.calls == 0


def test_no_url_is_malformed() -> None:
    """What a normaliser says is no URL is rejected as malformed, and no filter sees it."""
    chain = UrlChain([_Fake(None)], [_Fake()])
    assert chain.apply("x", Scope.INJECT).reason == "malformed"
    assert chain.normalize("x", Scope.INJECT) is None


def test_normalisers_run_until_nothing_changes() -> None:
    """They run `loop_count` times at most."""
    assert UrlChain([_Fake("x")], [], loop_count=3).normalize("a", Scope.DEFAULT) == "axxx"
    assert UrlChain([_Fake()], [], loop_count=9).normalize("a", Scope.DEFAULT) == "a"


def test_either_half_can_be_left_out() -> None:
    """`--no-filter` and `--no-normalize` leave out one half."""
    chain = UrlChain([_Fake("x")], [_Fake(None)])
    assert chain.apply("a", Scope.OUTLINK, judge=False).url == "ax"
    assert chain.apply("a", Scope.OUTLINK, normalize=False).steps[0].input == "a"
    assert chain.apply("", Scope.OUTLINK, normalize=False).reason == "malformed"


def test_answers_are_remembered_only_if_they_can_be() -> None:
    """A URL is asked once, unless a plugin cannot tell whether its answer will be the same."""
    steady, moody = _Fake(), _Fake(print_=None)
    for plugin in (steady, moody):
        chain = UrlChain([], [plugin])
        chain.apply("a", Scope.OUTLINK)
        chain.apply("a", Scope.OUTLINK)
    assert (steady.calls, moody.calls) == (1, 2)
    assert UrlChain([], [moody]).fingerprint() is None


@pytest.mark.parametrize("change", [{"filters": ["regex", "validator"]}, {"loop_count": 2}])
def test_the_fingerprint_follows_the_chain(change: dict[str, object], tmp_path: Path) -> None:
    """Another chain, or another number of rounds, is another fingerprint."""
    usual = PluginRepository(Settings(), tmp_path).url_chain()
    if "filters" in change:
        change = {"filters": ("regex", "validator")}
    other = PluginRepository(Settings.model_validate({"urls": change}), tmp_path).url_chain()
    assert usual.fingerprint() != other.fingerprint()
    assert usual.fingerprint() == PluginRepository(Settings(), tmp_path).url_chain().fingerprint()
