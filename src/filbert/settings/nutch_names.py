"""The one table from Nutch's property names to our settings.

Guarantee: every property of nutch-default.xml stands here, in `nutch_missing.py`, or in
`nutch_plugins.py`; none is lost silently. Each rule turns the property's text into the text that
our own setting takes, so that there is one reader of values (`values.py`).
Source: `conf/nutch-default.xml` of Nutch 1.22, and the properties that only its code reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.settings.nutch_plugins import CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NUTCH_NAMES", "OLD_NAMES", "Rule"]

Rule = tuple[str, "Callable[[str], str | None]"]
"""Our dotted name, and the conversion of the text; None means that nothing is to be set."""


def _same(text: str) -> str:
    return text


def _mode(text: str) -> str:
    return text.lower().removeprefix("by")


def _class(text: str) -> str:
    return CLASSES.get(text, text)


def _number(text: str) -> str:
    return text.rstrip("fFdDlL") if text[:1].isdigit() or text[:1] in "-." else text


def _if_any(text: str) -> str | None:
    return text or None


def _at_least_0(text: str) -> str:
    return "0" if text.startswith("-") else text


def _minus_is_minus_1(text: str) -> str:
    return "-1" if text.startswith("-") else text


def _days(text: str) -> str:
    return str(round(float(text) * 86_400))


def _milliseconds(text: str) -> str:
    return str(round(float(text) * 1_000))


def _http2(text: str) -> str | None:
    return "2" if text.lower() == "true" else None


def _http11(text: str) -> str | None:
    return "1.0" if text.lower() == "false" else None


def _by_ip(text: str) -> str:
    return "ip" if text.lower() == "true" else "host"


def _addresses(text: str) -> str:
    return text.replace("localhost", "loopback").replace("sitelocal", "private")


def _proxy_type(text: str) -> str:
    return {"socks": "socks5"}.get(text.strip().lower(), text.strip().lower())


OLD_NAMES = frozenset({
    "db.default.fetch.interval",
    "fetcher.threads.per.host",
    "fetcher.threads.per.host.by.ip",
    "generate.max.per.host",
    "http.robot.rules.whitelist",
})  # fmt: skip
"""Names that Nutch itself has given up; taken, with a note."""

NUTCH_NAMES: dict[str, Rule] = {
    # who we are, and what we ask for
    "http.agent.name": ("http.agent_name", _same),
    "http.agent.version": ("http.agent_version", _same),
    "http.agent.description": ("http.agent_description", _same),
    "http.agent.url": ("http.agent_url", _same),
    "http.agent.email": ("http.agent_email", _same),
    "http.robots.agents": ("http.robots_agents", _same),
    "http.accept": ("http.accept", _same),
    "http.accept.language": ("http.accept_language", _same),
    "http.accept.charset": ("http.accept_charset", _same),
    "http.timeout": ("http.timeout_ms", _same),
    "http.time.limit": ("http.time_limit_s", _minus_is_minus_1),
    "http.content.limit": ("http.content_limit", _minus_is_minus_1),
    "http.partial.truncated": ("http.partial_truncated", _same),
    "http.redirect.max": ("http.redirect_max", _at_least_0),
    "http.redirect.max.exceeded.skip": ("http.redirect_max_exceeded_skip", _same),
    "http.tls.certificates.check": ("http.tls_certificates_check", _same),
    "http.useHttp11": ("http.http_version", _http11),
    "http.useHttp2": ("http.http_version", _http2),
    "http.enable.if.modified.since.header": ("http.if_modified_since", _same),
    "http.enable.cookie.header": ("http.cookie_header", _same),
    "http.agent.rotate": ("http.agent_rotate", _same),
    "http.agent.rotate.file": ("http.agent_rotate_file", _same),
    "http.agent.host.cookie.file": ("http.cookie_file", _same),
    "http.proxy.host": ("proxy.host", _same),
    "http.proxy.port": ("proxy.port", _if_any),
    "http.proxy.type": ("proxy.type", _proxy_type),
    "http.proxy.username": ("proxy.username", _same),
    "http.proxy.password": ("proxy.password", _same),
    "http.proxy.exception.list": ("proxy.exceptions", _same),
    "http.filter.ipaddress.include": ("http.only_addresses", _addresses),
    "http.filter.ipaddress.exclude": ("http.deny_addresses", _addresses),
    # robots.txt
    "http.robot.rules.allowlist": ("robots.allowlist", _same),
    "http.robot.rules.whitelist": ("robots.allowlist", _same),
    "http.robots.403.allow": ("robots.allow_403", _same),
    "http.robots.503.defer.visits": ("robots.defer_5xx", _same),
    "http.robots.503.defer.visits.delay": ("robots.defer_delay_ms", _same),
    "http.robots.503.defer.visits.retries": ("robots.defer_retries", _same),
    "http.robots.redirect.max": ("robots.redirect_max", _at_least_0),
    # file
    "page.load.delay": ("browser.settle_ms", _milliseconds),
    "libselenium.page.load.delay": ("browser.settle_ms", _milliseconds),
    "ftp.username": ("ftp.username", _same),
    "ftp.password": ("ftp.password", _same),
    "ftp.content.limit": ("ftp.content_limit", _minus_is_minus_1),
    "ftp.timeout": ("ftp.timeout_ms", _same),
    "ftp.server.timeout": ("ftp.server_timeout_ms", _same),
    "ftp.keep.connection": ("ftp.keep_connection", _same),
    "ftp.follow.talk": ("ftp.follow_talk", _same),
    "file.content.limit": ("file.content_limit", _minus_is_minus_1),
    "file.crawl.parent": ("file.crawl_parent", _same),
    "file.crawl.redirect_noncanonical": ("file.redirect_noncanonical", _same),
    # fetcher
    "fetcher.threads.fetch": ("fetcher.threads", _same),
    "fetcher.threads.per.queue": ("fetcher.threads_per_queue", _same),
    "fetcher.threads.per.host": ("fetcher.threads_per_queue", _same),
    "fetcher.threads.per.host.by.ip": ("fetcher.queue_mode", _by_ip),
    "fetcher.queue.mode": ("fetcher.queue_mode", _mode),
    "fetcher.server.delay": ("fetcher.server_delay_s", _number),
    "fetcher.server.min.delay": ("fetcher.min_delay_s", _number),
    "fetcher.min.crawl.delay": ("fetcher.min_crawl_delay_s", _number),
    "fetcher.max.crawl.delay": ("fetcher.max_crawl_delay_s", _number),
    "fetcher.parse": ("fetcher.parse", _same),
    "fetcher.store.robotstxt": ("robots.store", _same),
    "fetcher.store.content": ("fetcher.store_content", _same),
    "fetcher.signature": ("fetcher.signature", _same),
    "fetcher.timelimit.mins": ("fetcher.timelimit_mins", _minus_is_minus_1),
    "fetcher.max.exceptions.per.queue": ("fetcher.max_exceptions_per_queue", _minus_is_minus_1),
    "fetcher.exceptions.per.queue.delay": ("fetcher.exceptions_delay_s", _number),
    "fetcher.exceptions.per.queue.clear.after": ("fetcher.exceptions_clear_after_s", _number),
    "fetcher.queue.depth.multiplier": ("fetcher.queue_depth_multiplier", _same),
    "fetcher.bandwidth.target": ("fetcher.bandwidth_target_kbps", _minus_is_minus_1),
    "fetcher.bandwidth.target.check.everyNSecs": ("fetcher.bandwidth_check_every_s", _same),
    "fetcher.maxNum.threads": ("fetcher.max_threads", _same),
    "fetcher.redirect.dedupcache.seconds": ("fetcher.redirect_dedup_s", _minus_is_minus_1),
    "fetcher.redirect.dedupcache.size": ("fetcher.redirect_dedup_size", _at_least_0),
    "fetcher.throughput.threshold.pages": (
        "fetcher.throughput_threshold_pages",
        _minus_is_minus_1,
    ),
    "fetcher.throughput.threshold.retries": ("fetcher.throughput_threshold_retries", _same),
    "fetcher.throughput.threshold.check.after": ("fetcher.throughput_check_after_mins", _same),
    "fetcher.filter.urls": ("fetcher.filter_urls", _same),
    "fetcher.normalize.urls": ("fetcher.normalize_urls", _same),
    # generate
    "generate.topN": ("generate.top_n", _same),
    "generate.max.count": ("generate.max_count", _minus_is_minus_1),
    "generate.max.per.host": ("generate.max_count", _minus_is_minus_1),
    "generate.count.mode": ("generate.count_mode", _mode),
    "generate.max.num.segments": ("generate.max_num_segments", _same),
    "generate.min.score": ("generate.min_score", _number),
    "generate.min.interval": ("generate.min_interval_s", _minus_is_minus_1),
    "generate.restrict.status": ("generate.restrict_status", _same),
    "generate.update.crawldb": ("generate.update_crawldb", _same),
    "generate.expr": ("generate.expr", _same),
    "generate.filter": ("generate.filter", _same),
    "generate.normalise": ("generate.normalize", _same),
    "crawl.gen.delay": ("generate.gen_delay_ms", _same),
    "partition.url.mode": ("generate.partition_mode", _mode),
    # inject and updatedb
    "db.score.injected": ("inject.score", _number),
    "db.injector.overwrite": ("inject.overwrite", _same),
    "db.injector.update": ("inject.update", _same),
    "crawldb.inject.filter.normalize.all": ("inject.filter_normalize_all", _same),
    "db.update.additions.allowed": ("update.additions_allowed", _same),
    "db.update.purge.404": ("update.purge_404", _same),
    "db.update.purge.orphans": ("update.purge_orphans", _same),
    "db.update.max.inlinks": ("update.max_inlinks", _same),
    "db.fetch.retry.max": ("update.retry_max", _same),
    "db.parsemeta.to.crawldb": ("update.parsemeta_to_crawldb", _same),
    "crawldb.url.filters": ("update.filter", _same),
    "crawldb.url.normalizers": ("update.normalize", _same),
    # schedules
    "db.fetch.schedule.class": ("schedule.name", _class),
    "db.fetch.interval.default": ("schedule.interval_default_s", _same),
    "db.default.fetch.interval": ("schedule.interval_default_s", _days),
    "db.fetch.interval.max": ("schedule.interval_max_s", _same),
    "db.fetch.schedule.adaptive.inc_rate": ("schedule.adaptive_inc_rate", _number),
    "db.fetch.schedule.adaptive.dec_rate": ("schedule.adaptive_dec_rate", _number),
    "db.fetch.schedule.adaptive.min_interval": ("schedule.adaptive_min_interval_s", _number),
    "db.fetch.schedule.adaptive.max_interval": ("schedule.adaptive_max_interval_s", _number),
    "db.fetch.schedule.adaptive.sync_delta": ("schedule.adaptive_sync_delta", _same),
    "db.fetch.schedule.adaptive.sync_delta_rate": (
        "schedule.adaptive_sync_delta_rate",
        _number,
    ),
    "db.fetch.schedule.mime.file": ("schedule.mime_rates_file", _same),
    # scoring
    "db.score.link.external": ("scoring.link_external", _number),
    "db.score.link.internal": ("scoring.link_internal", _number),
    "db.score.count.filtered": ("scoring.count_filtered", _same),
    "indexer.score.power": ("scoring.index_power", _number),
    # parse and outlinks
    "parser.timeout": ("parse.timeout_s", _minus_is_minus_1),
    "parser.skip.truncated": ("parse.skip_truncated", _same),
    "parser.character.encoding.default": ("parse.default_charset", _same),
    "parser.caching.forbidden.policy": ("parse.caching_forbidden_policy", _same),
    "parser.html.form.use_action": ("parse.form_use_action", _same),
    "parser.html.outlinks.ignore_tags": ("parse.outlinks_ignore_tags", _same),
    "parser.store.text": ("parse.store_text", _same),
    "parser.delete.failed.parse": ("parse.delete_failed_parse", _same),
    "parse.filter.urls": ("parse.filter_urls", _same),
    "parse.normalize.urls": ("parse.normalize_urls", _same),
    "mime.type.magic": ("parse.mime_magic", _same),
    "db.max.outlinks.per.page": ("parse.max_outlinks_per_page", _minus_is_minus_1),
    "db.max.outlink.length": ("parse.max_outlink_length", _minus_is_minus_1),
    "db.ignore.internal.links": ("parse.ignore_internal_links", _same),
    "db.ignore.external.links": ("parse.ignore_external_links", _same),
    "db.ignore.external.links.mode": ("parse.ignore_links_mode", _mode),
    "db.ignore.also.redirects": ("parse.ignore_also_redirects", _same),
    # signatures
    "db.signature.class": ("signature.name", _class),
    "db.signature.text_profile.min_token_len": ("signature.min_token_len", _same),
    "db.signature.text_profile.quant_rate": ("signature.quant_rate", _number),
    "db.signature.text_profile.sec_sort_lex": ("signature.sec_sort_lex", _same),
    # URL normalisers and filters
    "urlnormalizer.loop.count": ("urls.loop_count", _same),
    "urlnormalizer.regex.file": ("urls.regex_normalize_file", _same),
    "urlnormalizer.regex.rules": ("urls.regex_normalize_rules", _same),
    "urlnormalizer.basic.host.idn": ("urls.host_idn", _same),
    "urlnormalizer.basic.host.idna2008": ("urls.host_idna2008", _same),
    "urlnormalizer.basic.host.trim-trailing-dot": ("urls.host_trim_trailing_dot", _same),
    "urlfilter.regex.file": ("urls.regex_filter_file", _same),
    "urlfilter.regex.rules": ("urls.regex_filter_rules", _same),
    "urlfilter.prefix.file": ("urls.prefix_filter_file", _same),
    "urlfilter.prefix.rules": ("urls.prefix_filter_rules", _same),
    "urlfilter.suffix.file": ("urls.suffix_filter_file", _same),
    "urlfilter.suffix.rules": ("urls.suffix_filter_rules", _same),
    "urlfilter.domain.file": ("urls.domain_filter_file", _same),
    "urlfilter.domain.rules": ("urls.domain_filter_rules", _same),
    "urlfilter.domaindenylist.file": ("urls.domaindenylist_filter_file", _same),
    "urlfilter.domaindenylist.rules": ("urls.domaindenylist_filter_rules", _same),
    # links, dedup, index
    "linkdb.max.inlinks": ("links.max_inlinks", _same),
    "linkdb.ignore.internal.links": ("links.ignore_internal", _same),
    "linkdb.ignore.external.links": ("links.ignore_external", _same),
    "linkdb.max.anchor.length": ("links.max_anchor_length", _same),
    "linkdb.url.filters": ("links.filter", _same),
    "linkdb.url.normalizer": ("links.normalize", _same),
    "deduplication.group.mode": ("dedup.group", _same),
    "deduplication.compare.order": ("dedup.compare_order", _same),
    "indexer.max.title.length": ("index.max_title_length", _minus_is_minus_1),
    "indexer.max.content.length": ("index.max_content_length", _minus_is_minus_1),
    "indexer.add.domain": ("index.add_domain", _same),
    "indexer.skip.notmodified": ("index.skip_notmodified", _same),
    "indexer.delete": ("index.delete_gone", _same),
    "indexer.delete.robots.noindex": ("index.delete_robots_noindex", _same),
    "indexer.delete.skipped.by.indexingfilter": ("index.delete_skipped", _same),
    "indexer.url.filters": ("index.filter", _same),
    "indexer.url.normalizers": ("index.normalize", _same),
    "anchorIndexingFilter.deduplicate": ("index.anchor_deduplicate", _same),
    "moreIndexingFilter.indexMimeTypeParts": ("index.more_mime_type_parts", _same),
}
"""Nutch property (old names included) → our setting and the conversion of its text."""
