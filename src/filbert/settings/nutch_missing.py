"""Nutch properties that set nothing here: not yet built, or without a counterpart.

Guarantee: with `nutch_names.py` and the chain properties it covers all of nutch-default.xml (a
test holds the two against the list). `-D` refuses a property that is not built yet, and warns of
one that has no counterpart; `config import` lists both.
"""

from __future__ import annotations

__all__ = ["CHAIN_PROPERTIES", "needs", "without_counterpart"]

CHAIN_PROPERTIES: dict[str, str] = {
    "plugin.includes": "",
    "plugin.excludes": "",
    "urlnormalizer.order": "urls.normalizers",
    "urlfilter.order": "urls.filters",
    "indexingfilter.order": "index.filters",
    "scoring.filter.order": "scoring.names",
}
"""Properties that make chains of plugins; `translate.py` reads them together."""

_NOT_YET: dict[str, tuple[str, ...]] = {
    "issue 4": (
        "fetcher.follow.outlinks.",
        "http.auth.file",
    ),
    "issue 5": (
        "creativecommons.", "db.ignore.external.exemptions.file", "encodingdetector.", "headings",
        "headings.multivalued", "htmlparsefilter.order", "lang.", "metatags.names",
        "mime.types.file", "parse.plugin.file", "parsefilter.",
        "parser.html.line.separators", "parser.html.outlinks.htmlnode_metadata_name", "tika.",
        "urlfilter.automaton.", "urlfilter.fast.",
        "urlnormalizer.hosts.", "urlnormalizer.order.", "urlnormalizer.protocols.",
        "urlnormalizer.regex.file.", "urlnormalizer.scope.", "urlnormalizer.slashes.",
    ),
    "a later issue": (
        "cosine.goldstandard.file", "crawl.datum.processor.", "crawldb.url.normalizers.scope",
        "db.stats.score.quantiles", "exchanges.exchanges.file", "generate.fetch.delay.expr",
        "generate.hostdb", "generate.max.count.expr", "hostdb.", "index.", "indexer.additional.",
        "indexer.binary.base64", "indexer.indexwriters.file", "indexer.nocommit", "link.",
        "linkdb.regex", "mimetype.filter.file", "moreIndexingFilter.mapMimeTypes",
        "moreIndexingFilter.mapMimeTypes.field", "scoring.content.md", "scoring.db.md",
        "scoring.depth.", "scoring.orphan.", "scoring.parse.md", "scoring.similarity.",
        "segment.merger.", "segment.reader.content.recode", "sitemap.", "subcollection.",
        "subcollections.", "urlmeta.tags", "warc.", "webgraph.",
    ),
}  # fmt: skip

_WITHOUT: dict[str, str] = {
    "db.preserve.backup": "every table keeps its versions: store.vacuum_after_hours",
    "db.reader.": "an option of `filbert readdb`",
    "fetcher.follow.outlinks.depth.divisor": "only part of a log line in Nutch",
    "fetcher.publisher": "publishers are named: publish.publishers",
    "publisher.order": "publishers are named, in order: publish.publishers",
    "rabbitmq.": "a publisher of a dozen lines: docs/how-to/write-a-plugin.md",
    "fetcher.threads.start.delay": "a slot is no thread: nothing to start",
    "fetcher.threads.timeout.divisor": "each request has its own limit: http.time_limit_s",
    "file.content.ignored": "the captures are kept or not by fetcher.store_content",
    "generate.curTime": "an option of `filbert generate`",
    "htmlunit.": "pages are rendered by a Chromium: the settings browser.*",
    "http.agent.host": "only NTLM sent it; WARC files name the software alone",
    "http.connection.pool.okhttp": "connections are kept per host, as many as descriptors allow",
    "http.proxy.realm": "the proxy names its realm itself",
    "http.log.exceptions.suppress.stack": "a failed fetch is a record, not a stack trace",
    "http.store.responsetime": "always kept: crawl_fetch.response_ms",
    "interactiveselenium.handlers": "pages are rendered, not operated: write a protocol plugin",
    "http.tls.supported.": "what the TLS library offers; without http.tls_certificates_check old "
    "versions are taken as well",
    "io.serializations": "Hadoop's own",
    "mapreduce.": "Hadoop's own",
    "nutch.jexl.disable.sandbox": "expressions are parsed, never evaluated as code",
    "parser.html.impl": "there is one HTML parser, as browsers parse",
    "plugin.auto-activation": "Python packages bring what they need",
    "plugin.folders": "plugins are installed packages or single files: plugins.files",
    "protocol.plugin.check.blocking": "the queues always wait: fetcher.server_delay_s",
    "protocol.plugin.check.robots": "robots.txt is always obeyed: robots.allowlist for exceptions",
    "store.http.headers": "always kept: the head of a reply is in its WARC record",
    "store.http.request": "always kept: each capture has a WARC request record",
    "store.ip.address": "always kept: crawl_fetch.ip and WARC-IP-Address",
    "store.protocol.versions": "always kept: crawl_fetch.protocol",
    "screenshot.location": "no screenshots are made: the rendered document is kept",
    "segment.dump.dir": "an option of `filbert readseg`",
    "selenium.": "the browser is a Chromium of this machine: browser.program, browser.resources",
    "take.screenshot": "no screenshots are made: the rendered document is kept",
    "webdriver.chrome.driver": "the extra filbert[browser] brings what drives the browser",
}


def needs(name: str) -> str | None:
    """Say which issue builds what a property sets; None if none does."""
    for issue, names in _NOT_YET.items():
        if _listed(name, names):
            return issue
    return None


def without_counterpart(name: str) -> str | None:
    """Say what a property is about here, when nothing is to be set; None if it is not such."""
    for known, reason in _WITHOUT.items():
        if _listed(name, (known,)):
            return reason
    return None


def _listed(name: str, names: tuple[str, ...]) -> bool:
    return any(name.startswith(known) if known.endswith(".") else name == known for known in names)
