"""The page of differences from Nutch is true of the defaults."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from filbert.settings.catalog import catalog
from filbert.settings.translate import translate
from filbert.settings.values import from_text

if TYPE_CHECKING:
    from pathlib import Path

SAME_IN_EFFECT = {
    "fetcher.exceptions_delay_s": "off means server_delay_s, as Nutch's reference does",
    "fetcher.min_crawl_delay_s": "off means server_delay_s, as Nutch's reference does",
    "http.agent_rotate_file": "found in the crawl folder by that name",
    "http.agent_version": "our own version",
    "http.cookie_file": "found in the crawl folder by that name",
    "schedule.mime_rates_file": "found in the crawl folder by that name",
    "urls.domain_filter_file": "found in the crawl folder by that name",
    "urls.prefix_filter_file": "found in the crawl folder by that name",
    "urls.regex_filter_file": "found in the crawl folder by that name",
    "urls.regex_normalize_file": "found in the crawl folder by that name",
    "urls.suffix_filter_file": "found in the crawl folder by that name",
}


def _defaults_of_nutch(shared_dir: Path) -> dict[str, object]:
    page = (shared_dir / "spec" / "nutch-behaviour.md").read_text(encoding="utf-8")
    section = page.split("# B. Properties")[1].split("## B-extra")[0]
    rows = re.findall(r"^- `([^`]+)` = `([^`]*)`", section, re.MULTILINE)
    whole = {
        name: text.replace("∅", "")
        for name, text in rows
        if not text.endswith("…") and not name.startswith("plugin.")
    }
    return {
        ours: from_text(catalog()[ours], text)
        for ours, (text, _) in translate(whole).values.items()
    }


def test_every_other_default_is_on_the_page(shared_dir: Path, repository: Path) -> None:
    """A default that differs from nutch-default.xml stands in the table with its reason."""
    page = (repository / "docs" / "from-nutch.md").read_text(encoding="utf-8")
    table = page.split("## Defaults that are better")[1].split("\n## ")[0]
    named = {
        name
        for row in re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", row)
    }
    nutch = _defaults_of_nutch(shared_dir)
    differing = {ours for ours, value in nutch.items() if value != catalog()[ours].default}

    assert differing - named - set(SAME_IN_EFFECT) == set()
    assert {name for name in named if name in nutch} - differing == set()


def test_what_is_the_same_in_effect_is_still_spelt_differently(shared_dir: Path) -> None:
    """An exception that is no longer needed leaves the table."""
    nutch = _defaults_of_nutch(shared_dir)

    assert [name for name in SAME_IN_EFFECT if nutch[name] == catalog()[name].default] == []
