"""`filbert explain`: gathers all that a crawl folder knows of a URL.

Guarantee: works offline and changes nothing, not even what a crash left behind. What is judged is
judged by the rules themselves: the URL chain, the robots matcher, generate's own SQL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from filbert.errors import PluginError, UserError
from filbert.fetcher.left_due import read_left_due
from filbert.model.records import ProtocolOutput
from filbert.model.statuses import PageStatus, ProtocolStatus
from filbert.plugins.contracts import Scope
from filbert.plugins.registry import PluginRepository
from filbert.plugins.url_chain import MALFORMED, ChainVerdict
from filbert.reports.explain_reader import Reader, open_reader
from filbert.rules.explain import explain as explained
from filbert.rules.explain_facts import Facts, HostFacts, IndexFacts, LinkFacts, RobotsFacts
from filbert.rules.explain_history import segment_time
from filbert.rules.generate import Selection
from filbert.rules.host_queue import DropReason
from filbert.rules.robots import parse_robots
from filbert.rules.robots_answer import RobotsMeaning, is_allowlisted, robots_meaning
from filbert.rules.robots_book import origin_of
from filbert.rules.seeds import bad_url, no_place
from filbert.rules.sql import literal
from filbert.rules.urls import host_of, place_of
from filbert.search.schema import index_exists
from filbert.search.searcher import SearchIndex
from filbert.settings import Settings
from filbert.store.unsealed import look_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from filbert.rules.explain_facts import Row, Statement
    from filbert.store.crawl import CrawlFolder
    from filbert.store.unsealed import Unsealed

__all__ = ["explain", "gather"]

# A URL without its scheme: host, perhaps a port, and then the path or nothing.
_BARE = re.compile(r"(?:[^\s/:?#]+|\[[0-9A-Fa-f:.]+\])(?::\d+)?(?:[/?#]|$)")
_SHOWN = 5  # links and near URLs
_SEGMENTS = 20  # the newest, looked through for a robots.txt that could not be had
_SECOND_MS = 1_000  # a segment is named by the second in which it was generated


def explain(crawl: CrawlFolder, settings: Settings, url: str, now: int) -> list[Statement]:
    """Return everything known of a URL, as statements.

    Args:
        crawl: The crawl folder.
        settings: Its settings.
        url: The URL as a person writes it; without a scheme http and https are tried.
        now: Epoch milliseconds.
    """
    return explained(gather(crawl, settings, url, now))


def gather(crawl: CrawlFolder, settings: Settings, url: str, now: int) -> Facts:
    """Return the facts."""
    with open_reader(crawl, settings.engine) as reader:
        return _Gathering(reader, settings, now).facts(url.strip())


@dataclass(frozen=True, slots=True)
class _Gathering:
    reader: Reader
    settings: Settings
    now: int

    def facts(self, url: str) -> Facts:
        plugins, broken = self._plugins()
        asked, key, page = self._found(url, plugins)
        verdict = plugins.url_chain().apply(asked, Scope.DEFAULT)
        no_url = "" if page else _no_url(asked, key, verdict)
        if broken:
            verdict = ChainVerdict(url=key)
        if key is None or no_url:
            return Facts(asked=asked, now=self.now, verdict=verdict, no_url=no_url, broken=broken)
        known = self._known(asked, key, page)
        due_reason = self._due_reason(key, plugins) if page and not broken else None
        return replace(known, verdict=verdict, broken=broken, due_reason=due_reason)

    def _plugins(self) -> tuple[PluginRepository, str]:
        """Return the plugins of the settings, or filbert's own and why those cannot be had."""
        folder = self.reader.crawl.path
        try:
            plugins = PluginRepository(self.settings, folder)
            plugins.check()
            plugins.url_chain()
        except (PluginError, UserError) as error:
            return PluginRepository(Settings(), folder), error.message
        return plugins, ""

    def _known(self, asked: str, key: str, page: Row | None) -> Facts:
        """Return what is stored; not what plugins say."""
        quoted = literal(key)
        of_key = f"url = {quoted}"
        read = self.reader.in_segments
        fetched = read("crawl_fetch", of_key, order="segment, hop")[0]
        generated = read("crawl_generate", of_key, order="segment")[0]
        redirects = read("crawl_fetch", f"redirect_url = {quoted}", order="segment", limit=50)[0]
        journal = look_up(self.reader.crawl.segments(), key, (origin_of(key), *place_of(key)))
        fetched += [row for row in journal.rows if row["url"] == key]
        redirects += [row for row in journal.rows if row["redirect_url"] == key]
        robots = self._robots(key, journal)
        return Facts(
            asked=asked,
            now=self.now,
            verdict=ChainVerdict(url=key),
            key=key,
            page=page,
            origin=self.reader.one("origins", "url", key),
            versions=self.reader.versions(key),
            generated=tuple(generated),
            left_due=tuple(self._left_due(key, generated)),
            fetched=tuple(map(self._with_target, fetched)),
            redirects_here=tuple(redirects),
            parsed=self._parsed(of_key),
            links=self._links(quoted, fetched[-1]["segment"] if fetched else ""),
            robots=robots,
            robots_failure=self._robots_failure(key, (robots and robots.time) or 0),
            under_way=journal.captures,
            host=self._host(key, page, journal),
            index=self._index(key),
            twin=self._twin(page),
            ignores_internal=self.settings.links.ignore_internal,
            generate_filters=self.settings.generate.filter,
            lock_until=self._lock_until(page),
            open_segments=self._open_segments(of_key),
            min_score=self.settings.generate.min_score,
        )

    def _found(self, url: str, plugins: PluginRepository) -> tuple[str, str | None, Row | None]:
        """Return the URL meant, its key, and its row; the first spelling that is known."""
        chain = plugins.url_chain()
        is_bare = _BARE.match(url) is not None
        meant = [f"{scheme}://{url}" for scheme in ("http", "https")] if is_bare else [url]
        fallback: tuple[str, str | None] | None = None
        for asked in meant:
            for key in dict.fromkeys((chain.normalize(asked, Scope.DEFAULT), asked)):
                if key is None:
                    continue
                fallback = fallback or (asked, key)
                page = self.reader.one("crawldb", "url", key)
                if page is not None:
                    return asked, key, page
        asked, first = fallback or (meant[0], None)
        return asked, first, None

    def _with_target(self, fetch: Row) -> Row:
        """Return a row of crawl_fetch with what is known now of the page that it redirects to."""
        target = fetch["redirect_url"]
        row = self.reader.one("crawldb", "url", target) if target else None
        return {**fetch, "target_status": row and row["status"]}

    def _left_due(self, key: str, generated: Sequence[Row]) -> Iterator[Row]:
        """Yield why fetches left the page of their list unasked; rows of fetch lists, enlarged."""
        for row in generated:
            segment = self.reader.crawl.segment(str(row["segment"]))
            for left in read_left_due(segment.left_due_dir):
                if left.url == key:
                    yield {**row, "reason": left.reason, "meaning": left.meaning}

    def _parsed(self, of_key: str) -> tuple[Row, ...]:
        read = self.reader.in_segments
        rows = read("parse_data", of_key, order="segment")[0]
        lengths = read("parse_text", of_key, columns="length(text) as text_length")[0]
        by_segment = {row["segment"]: row["text_length"] for row in lengths}
        return tuple({**row, "text_length": by_segment.get(row["segment"])} for row in rows)

    def _links(self, quoted: str, newest: str) -> LinkFacts:
        columns = "url, from_url, kind, anchor, fetch_time, ordinal"
        kinds = "kind in ('outlink', 'redirect', 'refresh')"
        read = self.reader.in_segments
        mentions, mentioned = read(
            "crawl_parse",
            f"url = {quoted} and {kinds}",
            columns=columns,
            order="fetch_time, segment, from_url, ordinal",
            limit=_SHOWN,
        )
        outlinks = [
            row
            for row in read(
                "crawl_parse",
                f"from_url = {quoted} and {kinds}",
                columns=columns,
                order="segment, ordinal",
            )[0]
            if row["segment"] == newest
        ]
        inlinks = self._inlinks(quoted)
        return LinkFacts(
            inlinks=int(inlinks[0]["in_all"]) if inlinks else 0,
            inlink_rows=tuple(inlinks),
            mentions=mentioned,
            mention_rows=tuple(mentions),
            outlinks=len(outlinks),
            outlink_rows=tuple(outlinks[: 4 * _SHOWN]),
        )

    def _inlinks(self, quoted: str) -> list[dict[str, Any]]:
        files = self.reader.crawl.table("linkdb").files()
        if not files.paths:
            return []
        sql = (
            f"select *, count(*) over () as in_all from linkdb where url = {quoted}"
            f" order by from_url, anchor limit {4 * _SHOWN}"
        )
        return self.reader.ask(sql, {"linkdb": files})

    def _host_row(self, host: str, journal: Unsealed) -> Row | None:
        return journal.hosts.get(host) or self.reader.one("hostdb", "host", host)

    def _robots(self, key: str, journal: Unsealed) -> RobotsFacts | None:
        origin = origin_of(key)
        row = self._host_row(origin, journal) if origin else None
        if row is None or row["robots_time"] is None:
            return None
        robots = self.settings.robots
        status = row["robots_status"]
        url = row["robots_url"] or f"{origin}/robots.txt"
        reply = ProtocolOutput(
            status=ProtocolStatus.SUCCESS if status else ProtocolStatus.EXCEPTION,
            http_status=status,
        )
        meaning = robots_meaning(reply, robots)
        read = meaning is RobotsMeaning.PARSE
        rules = parse_robots(
            row["robots_body"] or b"",
            self._agents(),
            url=url,
            size_limit=robots.size_limit,
        )
        verdict = rules.judge(key)
        allowed = verdict.allowed if read else meaning is not RobotsMeaning.FORBID
        if is_allowlisted(host_of(key), robots.allowlist):
            allowed = True
        return RobotsFacts(
            origin=origin,
            url=url,
            time=row["robots_time"],
            http_status=status,
            meaning=_MEANINGS[meaning],
            read=read,
            allowed=allowed,
            rule=str(verdict) if read else "",
            line=verdict.line if read else 0,
            group=rules.group if read else "",
            expired=row["robots_time"] + robots.cache_s * 1000 < self.now,
        )

    def _agents(self) -> tuple[str, ...]:
        """Return the names of our robot: of the settings, else of the newest fetch that had one."""
        if names := self.settings.http.robot_names():
            return names
        segments = self.reader.crawl.segments()[-_SEGMENTS:]
        return next((names for one in reversed(segments) if (names := one.agents())), ())

    def _robots_failure(self, key: str, read_at: int) -> str:
        """Return why the robots.txt of the page's origin could not be had since `read_at`."""
        origin = origin_of(key)
        if not origin or is_allowlisted(host_of(key), self.settings.robots.allowlist):
            return ""
        for segment in reversed(self.reader.crawl.segments()[-_SEGMENTS:]):
            if (segment_time(segment.name) or 0) + _SECOND_MS <= read_at:
                break
            for left in read_left_due(segment.left_due_dir):
                is_robots = left.reason == DropReason.ROBOTS_UNAVAILABLE
                if is_robots and origin_of(left.url) == origin:
                    return left.meaning
        return ""

    def _twin(self, page: Row | None) -> str:
        """Return the page that a duplicate equals."""
        if page is None or page["status"] != PageStatus.DB_DUPLICATE or not page["signature"]:
            return ""
        kept = f"{PageStatus.DB_FETCHED:d}, {PageStatus.DB_NOTMODIFIED:d}"
        found = self.reader.ask(
            f"select url from crawldb where signature = {literal(page['signature'])}"
            f" and status in ({kept}) order by url limit 1",
            {"crawldb": self.reader.crawl.table("crawldb").files()},
        )
        return str(found[0]["url"]) if found else ""

    def _host(self, key: str, page: Row | None, journal: Unsealed) -> HostFacts:
        host, domain = (page["host"], page["domain"]) if page else place_of(key)
        politeness = self._host_row(host, journal) or self._host_row(domain, journal)
        if page or not host:
            return HostFacts(host=host, politeness=politeness)
        views = {"crawldb": self.reader.crawl.table("crawldb").files()}
        of_host = f"from crawldb where host = {literal(host)}"
        counts = self.reader.ask(
            f"select status, count(*) as pages {of_host} group by status", views
        )
        near = self.reader.ask(
            f"select url {of_host} order by levenshtein(url, {literal(key)}), url limit {_SHOWN}",
            views,
        )
        by_status = {int(row["status"]): int(row["pages"]) for row in counts}
        return HostFacts(
            host=host,
            pages=sum(by_status.values()),
            by_status=by_status,
            near=tuple(row["url"] for row in near),
            politeness=politeness,
        )

    def _index(self, key: str) -> IndexFacts:
        path = self.reader.crawl.index_dir
        if not index_exists(path):
            return IndexFacts()
        index = SearchIndex.open(path, self.settings.search)
        memory = index.memory()
        return IndexFacts(
            exists=True,
            document=index.document(key),
            segments=frozenset(memory.get("segments", "").split()),
            version=int(memory.get("crawldb_version", "-1")),
        )

    def _due_reason(self, key: str, plugins: PluginRepository) -> str:
        """Return what generate would count the page under; "" if it would choose it."""
        selection = Selection(
            settings=self.settings.generate,
            max_interval_s=self.settings.schedule.interval_max_s,
            sort=tuple(scoring.sort() for scoring in plugins.scorings()),
            now=self.now,
        )
        files = self.reader.crawl.table("crawldb").files()
        narrowed = replace(files, where=f"url = {literal(key)}")
        rows = self.reader.ask(selection.counts(), {"crawldb": narrowed})
        reason = str(rows[0]["reason"]) if rows else ""
        return "" if reason == "due" else reason

    def _lock_until(self, page: Row | None) -> int | None:
        if page is None or page["generate_time"] is None:
            return None
        return int(page["generate_time"]) + self.settings.generate.gen_delay_ms

    def _open_segments(self, of_key: str) -> tuple[str, ...]:
        """Return segments that hold the page, or name it, and that updatedb has not absorbed."""
        crawl = self.reader.crawl
        crawldb = crawl.table("crawldb")
        names = [
            segment.name
            for segment in crawl.segments()
            if crawldb.transaction(f"update:{segment.name}") is None
        ]
        if not names:
            return ()
        rows = [
            *self.reader.in_segments("crawl_generate", of_key, columns="url")[0],
            *self.reader.in_segments("crawl_parse", of_key, columns="url")[0],
        ]
        return tuple(sorted({row["segment"] for row in rows} & set(names)))


def _no_url(asked: str, key: str | None, verdict: ChainVerdict) -> str:
    """Return why inject would not take it for a URL; empty: it would."""
    bad = bad_url(asked) or (no_place(key) if key else None)
    if bad is not None:
        return bad.detail
    return f"{verdict.rule} says that it is no URL" if verdict.reason == MALFORMED else ""


_MEANINGS = {
    RobotsMeaning.PARSE: "its rules hold",
    RobotsMeaning.FOLLOW: "it is somewhere else",
    RobotsMeaning.ALLOW: "everything may be fetched",
    RobotsMeaning.FORBID: "nothing may be fetched",
    RobotsMeaning.DEFER: "the host is tried again later",
    RobotsMeaning.DEAD: "the host does not exist",
}
