"""The fingerprint of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.settings import Settings, fingerprint, load_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_stable_and_sees_only_what_was_asked() -> None:
    """Equal values give equal fingerprints; other settings do not count."""
    other = load_settings(None, ["fetcher.threads=3"]).settings

    assert fingerprint(Settings(), "urls") == fingerprint(other, "urls")
    assert fingerprint(Settings()) != fingerprint(other)
    assert fingerprint(Settings(), "dedup.group") == "37faafad87786070"


def test_the_content_of_a_rule_file_counts(tmp_path: Path) -> None:
    """An edited rule file changes the fingerprint, a moved one does not."""
    prints = []
    for folder, rules in (("a", "+.\n"), ("b", "+.\n"), ("c", "-.\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "regex-urlfilter.txt").write_text(rules, encoding="utf-8")
        prints.append(fingerprint(load_settings(tmp_path / folder).settings, "urls"))

    assert prints[0] == prints[1] != prints[2]


def test_an_unknown_name_is_an_error_of_the_programmer() -> None:
    """A misspelt name must not give a fingerprint of nothing."""
    with pytest.raises(KeyError):
        fingerprint(Settings(), "url")
