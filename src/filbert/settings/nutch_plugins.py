"""Nutch's plugin ids and class names beside our plugin names.

Source: `src/plugin/*/plugin.xml` of Nutch 1.22 and the property `plugin.includes`.
"""

from __future__ import annotations

import re

__all__ = ["CLASSES", "NOT_YET_PLUGINS", "PLUGINS", "chains_of", "names_of"]

PLUGINS: dict[str, tuple[str, str]] = {
    "urlnormalizer-basic": ("urls.normalizers", "basic"),
    "urlnormalizer-regex": ("urls.normalizers", "regex"),
    "urlfilter-prefix": ("urls.filters", "prefix"),
    "urlfilter-suffix": ("urls.filters", "suffix"),
    "urlfilter-domain": ("urls.filters", "domain"),
    "urlfilter-domaindenylist": ("urls.filters", "domaindenylist"),
    "urlfilter-regex": ("urls.filters", "regex"),
    "urlfilter-validator": ("urls.filters", "validator"),
    "index-basic": ("index.filters", "basic"),
    "index-anchor": ("index.filters", "anchor"),
    "index-more": ("index.filters", "more"),
    "scoring-opic": ("scoring.names", "opic"),
}
"""Plugin id → the chain that it enters, and its name there; in the order of a chain."""

ALWAYS = frozenset({
    "lib-http", "lib-regex-filter", "lib-xml", "nutch-extensionpoints", "parse-html",
    "protocol-file", "protocol-ftp", "protocol-http", "protocol-httpclient",
    "protocol-interactiveselenium", "protocol-okhttp", "protocol-selenium", "urlnormalizer-pass",
})  # fmt: skip
"""Plugin ids whose part is always there: the one HTTP client, the one HTML parser."""

NOT_YET_PLUGINS: dict[str, str] = {
    "creativecommons": "issue 5",
    "exchange-jexl": "a later issue",
    "feed": "issue 5",
    "headings": "issue 5",
    "index-arbitrary": "a later issue",
    "index-geoip": "a later issue",
    "index-jexl-filter": "a later issue",
    "index-links": "a later issue",
    "index-metadata": "a later issue",
    "index-replace": "a later issue",
    "index-static": "a later issue",
    "indexer-csv": "a later issue",
    "indexer-dummy": "a later issue",
    "indexer-elastic": "a later issue",
    "indexer-kafka": "a later issue",
    "indexer-opensearch-1x": "a later issue",
    "indexer-rabbit": "a later issue",
    "indexer-solr": "a later issue",
    "language-identifier": "issue 5",
    "microformats-reltag": "issue 5",
    "mimetype-filter": "a later issue",
    "parse-ext": "issue 5",
    "parse-js": "issue 5",
    "parse-metatags": "issue 5",
    "parse-tika": "issue 5",
    "parse-zip": "issue 5",
    "parsefilter-debug": "issue 5",
    "parsefilter-naivebayes": "issue 5",
    "parsefilter-regex": "issue 5",
    "publish-rabbitmq": "issue 4",
    "scoring-depth": "a later issue",
    "scoring-link": "a later issue",
    "scoring-metadata": "a later issue",
    "scoring-orphan": "a later issue",
    "scoring-similarity": "a later issue",
    "subcollection": "a later issue",
    "tld": "a later issue",
    "urlfilter-automaton": "issue 5",
    "urlfilter-fast": "issue 5",
    "urlfilter-ignoreexempt": "issue 5",
    "urlmeta": "a later issue",
    "urlnormalizer-host": "issue 5",
    "urlnormalizer-protocol": "issue 5",
    "urlnormalizer-querystring": "issue 5",
    "urlnormalizer-slash": "issue 5",
}

CLASSES: dict[str, str] = {
    "org.apache.nutch.crawl.DefaultFetchSchedule": "default",
    "org.apache.nutch.crawl.AdaptiveFetchSchedule": "adaptive",
    "org.apache.nutch.crawl.MimeAdaptiveFetchSchedule": "mime-adaptive",
    "org.apache.nutch.crawl.MD5Signature": "md5",
    "org.apache.nutch.crawl.TextMD5Signature": "text-md5",
    "org.apache.nutch.crawl.TextProfileSignature": "text-profile",
    "org.apache.nutch.net.urlnormalizer.basic.BasicURLNormalizer": "basic",
    "org.apache.nutch.net.urlnormalizer.regex.RegexURLNormalizer": "regex",
    "org.apache.nutch.urlfilter.regex.RegexURLFilter": "regex",
    "org.apache.nutch.urlfilter.prefix.PrefixURLFilter": "prefix",
    "org.apache.nutch.urlfilter.suffix.SuffixURLFilter": "suffix",
    "org.apache.nutch.urlfilter.domain.DomainURLFilter": "domain",
    "org.apache.nutch.urlfilter.domaindenylist.DomainDenylistURLFilter": "domaindenylist",
    "org.apache.nutch.urlfilter.validator.UrlValidator": "validator",
    "org.apache.nutch.indexer.basic.BasicIndexingFilter": "basic",
    "org.apache.nutch.indexer.anchor.AnchorIndexingFilter": "anchor",
    "org.apache.nutch.indexer.more.MoreIndexingFilter": "more",
    "org.apache.nutch.scoring.opic.OPICScoringFilter": "opic",
}
"""Java class → the name of our plugin."""

_BROWSERS = ("protocol-selenium", "protocol-interactiveselenium")
_CLIENTS = ("protocol-http", "protocol-httpclient", "protocol-okhttp")
_CHAINS = ("urls.normalizers", "urls.filters", "index.filters", "scoring.names")

_WITHOUT = {
    "urls.normalizers": "no urlnormalizer: one page under two spellings is two pages",
    "urls.filters": "no urlfilter: every URL is let in",
    "index.filters": "no index filter: documents have no fields",
    "scoring.names": "no scoring: every page has the same score",
}


def chains_of(includes: str, excludes: str) -> tuple[dict[str, str], list[str]]:
    """Translate `plugin.includes` and `plugin.excludes`.

    Args:
        includes: Regular expression that active plugin ids match as a whole.
        excludes: The same for ids left out; empty for none.

    Returns:
        The chains as text by setting, and a note for each active plugin that is not here yet,
        and for each chain that has none.

    Raises:
        ValueError: A pattern is no regular expression.
    """
    try:
        wanted, unwanted = re.compile(includes), re.compile(excludes or r"(?!)")
    except re.error as error:
        msg = f"is no regular expression ({error})"
        raise ValueError(msg) from None

    def active(plugin: str) -> bool:
        return bool(wanted.fullmatch(plugin)) and not unwanted.fullmatch(plugin)

    chains: dict[str, list[str]] = {chain: [] for chain in _CHAINS}
    for plugin, (chain, name) in PLUGINS.items():
        if active(plugin):
            chains[chain].append(name)
    if any(map(active, _BROWSERS)) and not any(map(active, _CLIENTS)):
        chains["protocols.by_scheme"] = ["http=browser", "https=browser"]
    notes = [
        f"{plugin}: not yet ({when})" for plugin, when in NOT_YET_PLUGINS.items() if active(plugin)
    ]
    notes += [why for chain, why in _WITHOUT.items() if not chains[chain]]
    return {chain: ",".join(names) for chain, names in chains.items()}, notes


def names_of(classes: str) -> tuple[list[str], list[str]]:
    """Translate a list of Java classes, as the `*.order` properties have it.

    Returns:
        Our names, and a note for each class that has none.
    """
    names, notes = [], []
    for one in classes.split():
        if one in CLASSES:
            names.append(CLASSES[one])
        else:
            notes.append(f"{one}: there is no such plugin here")
    return names, notes
