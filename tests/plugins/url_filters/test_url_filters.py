"""The URL filters beside Nutch's, and what their verdicts say."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import UserError
from filbert.plugins.rule_files import RuleText
from filbert.plugins.url_filters.domain import DomainDenylistFilter, DomainFilter
from filbert.plugins.url_filters.prefix import PrefixFilter
from filbert.plugins.url_filters.regex import RegexFilter
from filbert.plugins.url_filters.suffix import SuffixFilter
from filbert.plugins.url_filters.validator import UrlValidator
from filbert.rules.urls import host_of
from filbert.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from filbert.plugins.contracts import UrlFilter

Row = dict[str, Any]
FILTERS: dict[str, Callable[[list[RuleText]], UrlFilter]] = {
    "regex": RegexFilter,
    "prefix": PrefixFilter,
    "suffix": SuffixFilter,
    "domain": DomainFilter,
    "domaindenylist": DomainDenylistFilter,
    "validator": lambda _: UrlValidator(),
}
NOT_BUILT = {"fast": "issue 5"}


def _difference(row: Row) -> str:
    """Name why we differ, by a predicate on the inputs; empty if there is no reason."""
    host = host_of(row["url"])
    if row["url"].startswith("jar:"):
        return "jar: is no scheme that pages have"
    if "\u3002" in host:
        return "an ideographic full stop parts labels, as in browsers"
    if not host.isascii() or ("xn--" in host and not row["rules"].isascii()):
        return "a name in Unicode and in ASCII is one name"
    if host.endswith(".kawasaki.jp"):
        return "Nutch compares the exception rule !city.kawasaki.jp, not the suffix"
    return "Nutch's suffix look-up knows lower-case hosts only" if host not in row["url"] else ""


def test_verdicts_are_those_of_nutch(repository: Path) -> None:
    """Golden table url-filters: every verdict, but for those by a named decision."""
    made: dict[tuple[str, str], UrlFilter] = {}
    unexplained, different, seen = [], Counter[str](), Counter[str]()
    with gzip.open(repository / "tests/data/golden/url-filters.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            name = row["filter"]
            if name in NOT_BUILT:
                continue
            seen[name] += 1
            key = (name, row["rules"] or "")
            if "error" in row:
                with pytest.raises(UserError):
                    FILTERS[name]([RuleText("rules", key[1])])
                continue
            if key not in made:
                made[key] = FILTERS[name]([RuleText("rules", key[1])])
            got = made[key].judge(row["url"]).accepted
            if got != row["result"]:
                different[name] += 1
                if not name.startswith("domain") or not _difference(row):
                    unexplained.append((row["filter"], row["url"], got))
    assert unexplained == []
    assert set(seen) == set(FILTERS)
    assert different <= Counter(domain=8, domaindenylist=8)


def test_the_default_rules_are_nutchs(tmp_path: Path) -> None:
    """Without a file: no queries, no pictures, no loops, and each verdict names its line."""
    judge = RegexFilter.from_settings(Settings(), tmp_path).judge
    verdict = judge("http://example.com/?q=1")
    assert (verdict.accepted, verdict.reason) == (False, "regex")
    assert verdict.rule == "regex-urlfilter.txt:14 -[?*!@=]"
    assert not judge("http://example.com/a/b.JPG").accepted
    assert not judge("http://example.com/a/x/a/y/a/").accepted
    assert judge("http://example.com/a/").accepted


def test_rules_for_a_host_hold_there_alone() -> None:
    """`> host … <` scopes rules to a host or to a registered domain."""
    rules = "> example.com\n-secret\n> www.example.org\n-\\.pdf$\n<\n+.\n"
    judge = RegexFilter([RuleText("f", rules)]).judge
    assert judge("http://www.example.com/secret").rule == "f:2 -secret"
    assert judge("http://example.org/secret").accepted
    assert not judge("http://www.example.org/a.pdf").accepted
    assert judge("http://example.org/a.pdf").accepted


@pytest.mark.parametrize(
    ("rules", "said"), [("+ok\n?no\n", "f:2: '\\?no' is no rule"), ("+a\n\n-[\n", "f:3: '\\['")]
)
def test_a_line_that_is_no_rule_is_refused_with_its_place(rules: str, said: str) -> None:
    """A file with a bad line is refused with file and line."""
    with pytest.raises(UserError, match=said):
        RegexFilter([RuleText("f", rules)])


def test_inline_rules_replace_the_built_in_ones(tmp_path: Path) -> None:
    """Rules in the settings hold alone, as Nutch's urlfilter.regex.rules; with a file before it."""
    inline = {"regex_filter_rules": "-x"}
    settings = Settings.model_validate({"urls": inline})
    assert not RegexFilter.from_settings(settings, tmp_path).judge("http://a/b").accepted
    (tmp_path / "more.txt").write_text("+.")
    settings = Settings.model_validate({"urls": inline | {"regex_filter_file": "more.txt"}})
    judge = RegexFilter.from_settings(settings, tmp_path).judge
    assert judge("http://a/b").rule == "more.txt:1 +."
    assert judge("http://a/x").rule == "urls.regex_filter_rules:1 -x"


def test_a_missing_rule_file_is_the_users_error(tmp_path: Path) -> None:
    """A rule file that is not there is named."""
    settings = Settings.model_validate({"urls": {"prefix_filter_file": "none.txt"}})
    with pytest.raises(UserError, match=r"none\.txt"):
        PrefixFilter.from_settings(settings, tmp_path)


@pytest.mark.parametrize("name", ["prefix", "suffix"])
def test_no_rules_no_urls(name: str, tmp_path: Path) -> None:
    """Without a rule, prefix and suffix drop everything, as in Nutch."""
    made: dict[str, UrlFilter] = {
        "prefix": PrefixFilter.from_settings(Settings(), tmp_path),
        "suffix": SuffixFilter.from_settings(Settings(), tmp_path),
    }
    assert not made[name].judge("http://a.com/").accepted
    assert DomainFilter.from_settings(Settings(), tmp_path).judge("http://a.com/").accepted
