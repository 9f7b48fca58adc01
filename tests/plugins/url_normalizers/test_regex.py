"""The normaliser `regex` beside Nutch's RegexURLNormalizer."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from filbert.errors import UserError
from filbert.plugins.contracts import Scope
from filbert.plugins.rule_files import RuleText
from filbert.plugins.url_normalizers.regex import RegexNormalizer
from filbert.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = "<regex><pattern>[</pattern><substitution>broken</substitution></regex>"


def test_urls_become_what_nutch_makes_of_them(repository: Path) -> None:
    """Golden table normalizer-regex, every row.

    By decision: a rule that Nutch skips in silence, and one that breaks when a URL meets it, are
    refused when the file is read; here the first is taken out, and the second's file left out.
    """
    made: dict[str, RegexNormalizer] = {}
    count = 0
    with gzip.open(repository / "tests/data/golden/normalizer-regex.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            rules = row["rules"].replace(BROKEN, "")
            if "$9" in rules:
                continue
            if rules not in made:
                made[rules] = RegexNormalizer([RuleText("rules", rules)])
            count += 1
            assert made[rules].normalize(row["url"], Scope.DEFAULT) == row["result"]
    assert count > 500


def _read(body: str) -> RegexNormalizer:
    return RegexNormalizer([RuleText("my.xml", f"<regex-normalize>\n{body}\n</regex-normalize>")])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (BROKEN, "my.xml:2"),
        ("<regex><pattern>x</pattern><substitution>$9</substitution></regex>", "group 9"),
        ("<regex>", "my.xml"),
    ],
)
def test_rules_that_cannot_work_are_refused(body: str, said: str) -> None:
    """A broken rule is refused with its place when the file is read."""
    with pytest.raises(UserError, match=said):
        _read(body)


def test_the_built_in_rules_hold_without_a_file(tmp_path: Path) -> None:
    """Without a setting or a file the rules are Nutch's: no session ids, no fragments."""
    normalizer = RegexNormalizer.from_settings(Settings(), tmp_path)
    url = "http://example.com/a;jsessionid=12?x=1&&y#top"
    assert normalizer.normalize(url, Scope.OUTLINK) == "http://example.com/a?x=1&y"


def test_a_file_changes_the_fingerprint(tmp_path: Path) -> None:
    """The fingerprint follows the content of the rules."""
    (tmp_path / "n.xml").write_text("<regex-normalize/>")
    settings = Settings.model_validate({"urls": {"regex_normalize_file": "n.xml"}})
    own = RegexNormalizer.from_settings(settings, tmp_path)
    assert own.fingerprint() != RegexNormalizer.from_settings(Settings(), tmp_path).fingerprint()
    assert own.normalize("http://a/#b", Scope.DEFAULT) == "http://a/#b"
