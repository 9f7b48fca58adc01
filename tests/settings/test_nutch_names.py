"""Nutch's property names beside our settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from filbert.settings import load_settings
from filbert.settings.catalog import catalog
from filbert.settings.nutch_missing import needs, without_counterpart
from filbert.settings.nutch_names import NUTCH_NAMES
from filbert.settings.translate import is_nutch_name, translate

if TYPE_CHECKING:
    from pathlib import Path


def test_every_property_of_nutch_is_known(shared_dir: Path) -> None:
    """Each of the 322 properties of nutch-default.xml is set, not yet, or explained."""
    text = (shared_dir / "spec" / "nutch-behaviour.md").read_text(encoding="utf-8")
    section = text.split("# B. Properties")[1].split("## B-extra")[0]
    names = re.findall(r"^- `([^`]+)` = ", section, re.MULTILINE)

    assert len(names) == 322
    assert [name for name in names if not is_nutch_name(name)] == []


def test_the_table_names_real_settings() -> None:
    """Each rule of the table sets something that exists."""
    assert {ours for ours, _ in NUTCH_NAMES.values()} <= set(catalog())


def test_no_property_is_in_two_lists() -> None:
    """A property is set, or not yet, or explained: one of them."""
    both = [name for name in NUTCH_NAMES if needs(name) or without_counterpart(name)]

    assert both == []


@pytest.mark.parametrize(
    ("name", "text", "ours", "value"),
    [
        ("fetcher.queue.mode", "byDomain", "fetcher.queue_mode", "domain"),
        ("partition.url.mode", "byHost", "generate.partition_mode", "host"),
        ("http.useHttp2", "true", "http.http_version", "2"),
        ("http.content.limit", "-5", "http.content_limit", -1),
        ("http.redirect.max", "-1", "http.redirect_max", 0),
        ("db.default.fetch.interval", "30", "schedule.interval_default_s", 2_592_000),
        ("db.score.link.internal", "0.5f", "scoring.link_internal", 0.5),
        (
            "db.fetch.schedule.class",
            "org.apache.nutch.crawl.MimeAdaptiveFetchSchedule",
            "schedule.name",
            "mime-adaptive",
        ),
        (
            "db.signature.class",
            "org.apache.nutch.crawl.TextProfileSignature",
            "signature.name",
            "text-profile",
        ),
        ("deduplication.compare.order", "score,urlLength,fetchTime", "dedup.compare_order",
         ("score", "urlLength", "fetchTime")),
        ("http.filter.ipaddress.exclude", "localhost,sitelocal", "http.deny_addresses",
         ("loopback", "private")),
    ],
)  # fmt: skip
def test_values_are_converted(name: str, text: str, ours: str, value: object) -> None:
    """Nutch's spellings of a value come to ours."""
    settings = load_settings(None, [f"{name}={text}"]).settings
    section, _, field = ours.partition(".")

    assert getattr(getattr(settings, section), field) == value


def test_plugin_includes_makes_the_chains() -> None:
    """The regular expression of plugin ids comes to chains, in Nutch's order."""
    includes = "protocol-http|urlfilter-(regex|validator)|parse-(html|tika)|index-(basic|more)"

    got = translate({"plugin.includes": f"{includes}|scoring-opic|urlnormalizer-(regex|basic)"})

    assert {ours: text for ours, (text, _) in got.values.items()} == {
        "urls.normalizers": "basic,regex",
        "urls.filters": "regex,validator",
        "index.filters": "basic,more",
        "scoring.names": "opic",
    }
    assert got.notes == ["plugin.includes has parse-tika: not yet (issue 5)"]


def test_an_order_of_filters_is_a_whitelist_and_one_of_normalisers_only_sorts() -> None:
    """As in Nutch: `urlfilter.order` drops what it leaves out, `urlnormalizer.order` does not."""
    package = "org.apache.nutch"

    got = translate({
        "plugin.includes": "urlfilter-(regex|prefix)|urlnormalizer-(basic|regex)",
        "urlfilter.order": f"{package}.urlfilter.prefix.PrefixURLFilter",
        "urlnormalizer.order": f"{package}.net.urlnormalizer.regex.RegexURLNormalizer",
    }).values  # fmt: skip

    assert got["urls.filters"][0] == "prefix"
    assert got["urls.normalizers"][0] == "regex,basic"


def test_references_are_replaced() -> None:
    """`${…}` is looked up among the properties, then among the defaults."""
    got = translate({
        "fetcher.min.crawl.delay": "${fetcher.server.delay}",
        "fetcher.exceptions.per.queue.delay": "${fetcher.server.min.delay}",
        "http.agent.url": "${nobody.knows}",
        "fetcher.server.delay": "2.5",
    })  # fmt: skip

    assert got.values["fetcher.min_crawl_delay_s"][0] == "2.5"
    assert got.values["fetcher.exceptions_delay_s"][0] == "0.0"
    assert got.notes == ["http.agent.url: nothing is known of ${nobody.knows}"]


def test_references_in_a_circle_end() -> None:
    """Two properties that name each other do not hang the reader."""
    got = translate(
        {"http.agent.url": "${http.agent.email}", "http.agent.email": "${http.agent.url}"}
    )

    assert len(got.notes) == 2


def test_a_selenium_without_another_client_renders_everything() -> None:
    """As in Nutch, where it then is all of http; beside another plugin it waits to be mapped."""
    got = translate({"plugin.includes": "protocol-selenium|urlfilter-regex"})
    assert got.values["protocols.by_scheme"][0] == "http=browser,https=browser"
    both = translate({"plugin.includes": "protocol-(http|selenium)|urlfilter-regex"})
    assert "protocols.by_scheme" not in both.values


def test_the_load_delay_of_a_page_is_in_milliseconds() -> None:
    """Nutch says seconds."""
    assert translate({"page.load.delay": "3"}).values["browser.settle_ms"][0] == "3000"
