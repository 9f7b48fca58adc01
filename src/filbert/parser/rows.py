"""From a parsed page to rows of parse_data, parse_text and crawl_parse.

Guarantee: a link is one row, kept once; a link that is dropped is counted under its reason. Rows
carry the time of the capture, so that parsing again gives the same rows.
Source: Nutch `ParseOutputFormat`, `OPICScoringFilter.distributeScoreToOutlinks`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from filbert.model.statuses import ParseMajor
from filbert.parser.jobs import PageRows
from filbert.plugins.contracts import Scope
from filbert.rules.outlinks import OutlinkPolicy, Outlinks, judge_target, select_outlinks
from filbert.rules.urls import choose_repr, place_of
from filbert.rules.use_preferences import use_preferences

if TYPE_CHECKING:
    from filbert.model.records import Parse
    from filbert.parser.jobs import ParseJob, Row
    from filbert.parser.parsing import Parsed
    from filbert.plugins.registry import PluginRepository
    from filbert.settings import Settings

__all__ = ["RowMaker"]

_PERMANENT_S = 5
"""A refresh that waits so long counts as permanent (Nutch: PERM_REFRESH_TIME)."""


@dataclass(frozen=True, slots=True)
class _Document:
    """One document of a page, as its rows need it."""

    url: str
    parse: Parse
    signature: bytes
    is_page: bool


class RowMaker:
    """Makes the rows of pages by the settings of a crawl."""

    def __init__(self, settings: Settings, plugins: PluginRepository) -> None:
        self._settings = settings
        self._chain = plugins.url_chain()
        self._scorings = plugins.scorings()
        self._policy = OutlinkPolicy.from_settings(settings.parse)
        self._agents = settings.http.robot_names()
        self._to_db = settings.update.parsemeta_to_crawldb
        redirects = settings.parse.ignore_also_redirects
        self._refresh_policy = (
            self._policy
            if redirects
            else replace(self._policy, ignore_internal=False, ignore_external=False)
        )

    def rows(self, job: ParseJob, parsed: Parsed) -> PageRows:
        """Return all rows of a page."""
        rows = PageRows()
        rows.counters.update(parsed.errors)
        before = Counter(self._chain.errors)
        for parse, signature in zip(parsed.parses, parsed.signatures, strict=True):
            is_page = parse.url is None or parse.url == job.url
            url = job.url if parse.url is None else parse.url
            document = _Document(url, parse, signature, is_page)
            self._add(rows, job, parsed, document)
        for name, count in (self._chain.errors - before).items():
            rows.counters[f"error_{name}"] += count
        return rows

    def _add(self, rows: PageRows, job: ParseJob, parsed: Parsed, document: _Document) -> None:
        parse = document.parse
        links = select_outlinks(document.url, parse.links, self._policy, self._outlink)
        dropped = links.dropped + Counter(parse.links_dropped)
        rows.parse_data.append(self._data_row(job, parsed, document, (len(links.kept), dropped)))
        succeeded = parse.major is ParseMajor.SUCCESS
        if succeeded and self._settings.parse.store_text:
            rows.parse_text.append(self._text_row(document))
        rows.counters["pages" if document.is_page else "subdocuments"] += 1
        rows.counters[parse.major.name.lower()] += 1
        if parsed.parser is not None:
            rows.counters[f"parser_{parsed.parser}"] += 1
        rows.counters["links_found"] += len(links.kept) + dropped.total()
        rows.counters["links_kept"] += len(links.kept)
        for reason, count in dropped.items():
            rows.counters[f"links_dropped_{reason}"] += count
        if parse.major is not ParseMajor.NOTPARSED:
            self._crawl_parse(rows, job, parsed, document, links)

    def _crawl_parse(
        self,
        rows: PageRows,
        job: ParseJob,
        parsed: Parsed,
        document: _Document,
        links: Outlinks,
    ) -> None:
        out = _CrawlParse(rows.crawl_parse, document.url, job.fetch_time)
        out.about_page("signature", signature=document.signature)
        self._page_metadata(out, job, parsed, document)
        if not document.is_page:
            out.about_page("subdocument", from_url=job.url)
        self._refresh(out, document, rows.counters)
        interval = self._settings.schedule.interval_default_s
        shares = self._shares(job.score, document.url, links)
        for kept, share in zip(links.kept, shares, strict=True):
            link = kept.link
            out.link(
                "outlink",
                link.url,
                to_linkdb=True,
                anchor=link.anchor,
                fetch_interval=interval,
                score=share,
                metadata=dict(link.metadata) or None,
            )

    def _page_metadata(
        self, out: _CrawlParse, job: ParseJob, parsed: Parsed, document: _Document
    ) -> None:
        metadata = document.parse.metadata
        chosen = {name: metadata[name][0] for name in self._to_db if metadata.get(name)}
        content_type = parsed.page.content_type or None
        is_news = document.is_page and content_type is not None and content_type != job.known_type
        if chosen or is_news:
            out.about_page(
                "parse_metadata",
                metadata=chosen or None,
                content_type=content_type if document.is_page else None,
            )

    def _refresh(self, out: _CrawlParse, document: _Document, counters: Counter[str]) -> None:
        if document.parse.refresh is None:
            return
        target, seconds = document.parse.refresh
        url, reason = judge_target(
            document.url, target, place_of(document.url), self._refresh_policy, self._redirect
        )
        if url is None or url == document.url:
            counters[f"refresh_dropped_{reason or 'self'}"] += 1
            return
        counters["refresh"] += 1
        shown = choose_repr(document.url, url, temporary=seconds < _PERMANENT_S)
        out.link("refresh", url, to_linkdb=False, repr_url=None if shown == url else shown)

    def _shares(self, score: float, from_url: str, links: Outlinks) -> list[float]:
        """Return what each kept link gives to its target; the sum of all scoring plugins."""
        kept = [one.link for one in links.kept]
        shares = [0.0] * len(kept)
        for scoring in self._scorings:
            given = scoring.distribute(score, from_url, kept, links.found)
            shares = [a + b for a, b in zip(shares, given, strict=True)]
        return shares

    def _outlink(self, url: str) -> tuple[str | None, str]:
        return self._judged(url, Scope.OUTLINK)

    def _redirect(self, url: str) -> tuple[str | None, str]:
        return self._judged(url, Scope.FETCHER)

    def _judged(self, url: str, scope: Scope) -> tuple[str | None, str]:
        parse = self._settings.parse
        verdict = self._chain.apply(
            url, scope, normalize=parse.normalize_urls, judge=parse.filter_urls
        )
        return verdict.url, verdict.reason

    def _data_row(
        self, job: ParseJob, parsed: Parsed, document: _Document, links: tuple[int, Counter[str]]
    ) -> Row:
        kept, dropped = links
        parse = document.parse
        metadata = dict(parse.metadata)
        metadata |= use_preferences(job.uses, job.headers, parse.metadata, self._agents)
        return {
            "url": document.url,
            "major": int(parse.major),
            "minor": int(parse.minor),
            "parse_message": parse.message or (parse.refresh[0] if parse.refresh else None),
            "parser": parsed.parser,
            "title": parse.title,
            "charset": parse.charset,
            "language": parse.language,
            "canonical_url": parse.canonical_url,
            "robots_noindex": parse.noindex,
            "robots_nofollow": parse.nofollow,
            "robots_noarchive": parse.noarchive,
            "canonical": document.is_page,
            "signature": document.signature,
            "outlinks_found": kept + dropped.total(),
            "outlinks_kept": kept,
            "outlinks_dropped": {name: str(count) for name, count in dropped.items()},
            "content_metadata": {name: list(values) for name, values in job.headers.items()},
            "parse_metadata": {name: list(values) for name, values in metadata.items()},
        }

    def _text_row(self, document: _Document) -> Row:
        limit = self._settings.parse.text_limit
        text = document.parse.text
        return {
            "url": document.url,
            "text": text if limit < 0 else text[:limit],
            "main_text": document.parse.main_text,
        }


class _CrawlParse:
    """The rows of crawl_parse of one document, counted from 0."""

    def __init__(self, rows: list[Row], url: str, fetch_time: int) -> None:
        self._rows = rows
        self._url = url
        self._fetch_time = fetch_time
        self._ordinal = 0

    def about_page(self, kind: str, *, from_url: str | None = None, **columns: object) -> None:
        """Add a row that says something of the document itself."""
        self._append(kind, self._url, from_url or self._url, to_linkdb=False, **columns)

    def link(self, kind: str, target: str, *, to_linkdb: bool, **columns: object) -> None:
        """Add a row that leads from the document to `target`."""
        self._append(kind, target, self._url, to_linkdb=to_linkdb, **columns)

    def _append(
        self, kind: str, url: str, from_url: str, *, to_linkdb: bool, **columns: object
    ) -> None:
        host, domain = place_of(url)
        self._rows.append(
            {
                "url": url,
                "host": host,
                "domain": domain,
                "from_url": from_url,
                "ordinal": self._ordinal,
                "kind": kind,
                "to_db": True,
                "to_linkdb": to_linkdb,
                "fetch_time": self._fetch_time,
                "retries": 0,
                "fetch_interval": 0,
                "score": 0.0,
                **columns,
            }
        )
        self._ordinal += 1
