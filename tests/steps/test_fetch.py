"""The step `fetch`, over a real loopback web."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import EngineError, UserError
from filbert.fetcher.left_due import read_left_due
from filbert.model.schemas import CRAWL_GENERATE
from filbert.steps.context import StepContext, open_context
from filbert.steps.fetch import FetchOptions, run
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import ParquetSink, read_rows
from filbert.store.segments import SegmentState
from filbert.store.tables import Commit
from filbert.store.warc import read_capture
from filbert.testing.records import generate_row
from filbert.testing.synthetic_server import SyntheticServer
from filbert.testing.synthetic_web import WebSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from filbert.engine.base import Part, PartResult
    from filbert.store.lease import Lease
    from filbert.store.segments import Segment

NOW = 1_796_000_000_000
QUICK = (
    "fetcher.server_delay_s=0",
    "http.allow_addresses=loopback",
    "engine.processes=1",
    "store.fsync=never",
)


@contextmanager
def _crawl(path: Path, *overrides: str) -> Iterator[StepContext]:
    with open_context(path / "crawl", (*QUICK, *overrides), {}, create=True) as context:
        yield context


def _segment(context: StepContext, urls: Sequence[str], parts: Sequence[int] = ()) -> Segment:
    """Make a segment as generate would."""
    segment = context.crawl.new_segment(NOW)
    with context.crawl.scratch("generate") as scratch:
        with ParquetSink(CRAWL_GENERATE, scratch, "list") as sink:
            for position, url in enumerate(urls):
                part = parts[position] if parts else 0
                sink.append(generate_row(url, position=position, part=part))
        segment.table("crawl_generate").commit(Commit(step="generate", add=sink.files))
    return segment


def _rows(segment: Segment, table: str) -> list[dict[str, Any]]:
    return list(read_rows(segment.table(table).files()))


@pytest.mark.slow
def test_a_segment_is_fetched_committed_and_readable(tmp_path: Path) -> None:
    """Each URL has its row, each capture can be read back, the journal is gone."""
    spec = WebSpec.plain(hosts=3, pages=4, addresses=True)
    with SyntheticServer(spec) as server, _crawl(tmp_path) as context:
        urls = server.web.urls()
        segment = _segment(context, urls)
        result = run(context, FetchOptions())
        assert result.counters["fetch_success"] == 12
        assert segment.state is SegmentState.FETCHED
        assert segment.agents() == context.settings.http.robot_names()
        rows = _rows(segment, "crawl_fetch")
        assert {row["url"] for row in rows} == set(urls)
        one = rows[0]
        capture = read_capture(
            segment.content_dir, one["warc_file"], one["warc_offset"], one["warc_length"]
        )
        known = server.web.reply(one["url"])
        assert known is not None
        assert capture.body == known.body
        assert not segment.journal_dir.exists()
        hosts = {row["host"] for row in read_rows(context.crawl.table("hostdb").files())}
        assert {server.web.host(0), server.web.origin(0)} <= hosts


@pytest.mark.slow
def test_a_segment_is_fetched_once(tmp_path: Path) -> None:
    """The same command again has nothing to do, and asks nothing."""
    spec = WebSpec.plain(hosts=1, pages=2, addresses=True)
    with SyntheticServer(spec) as server, _crawl(tmp_path) as context:
        _segment(context, server.web.urls())
        first = run(context, FetchOptions())
        requests = len(server.seen)
        again = run(context, FetchOptions())
        named = run(context, FetchOptions(segment=first.segments[0]))
        assert (again.nothing_to_do, named.nothing_to_do) == (True, True)
        assert "fetched already" in named.message
        assert len(server.seen) == requests


@pytest.mark.slow
def test_a_fetch_that_another_process_ends_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended between our look at the segment and our lease, its captures stay as they are."""
    lease = CrawlFolder.lease

    def late(crawl: CrawlFolder, step: str, *, lease_s: int = 60) -> AbstractContextManager[Lease]:
        monkeypatch.setattr(CrawlFolder, "lease", lease)
        run(context, FetchOptions())
        return lease(crawl, step, lease_s=lease_s)

    spec = WebSpec.plain(hosts=1, pages=2, addresses=True)
    with SyntheticServer(spec) as server, _crawl(tmp_path) as context:
        segment = _segment(context, server.web.urls())
        monkeypatch.setattr(CrawlFolder, "lease", late)
        result = run(context, FetchOptions())
        kept = [path.stat().st_size for path in segment.content_dir.iterdir()]
        assert (result.nothing_to_do, segment.state) == (True, SegmentState.FETCHED)
        assert len(server.seen) == 3  # robots.txt and two pages, once
        assert (len(kept), min(kept) > 0, segment.journal_dir.exists()) == (1, True, False)


@pytest.mark.slow
def test_a_stopped_fetch_goes_on_where_it_was(tmp_path: Path) -> None:
    """`.STOP` ends it at once; the next run asks only what is missing."""
    spec = WebSpec.plain(hosts=1, pages=8, addresses=True)
    with SyntheticServer(spec) as server:
        with _crawl(tmp_path, "fetcher.server_delay_s=0.2") as context:
            segment = _segment(context, server.web.urls())
            (context.crawl.path / ".STOP").touch()
            stopped = run(context, FetchOptions())
            assert stopped.message.startswith("stopped as asked")
            assert segment.state is SegmentState.FETCHING
            context.crawl.clear_stop()
        with _crawl(tmp_path) as context:
            result = run(context, FetchOptions())
            assert result.counters["fetch_success"] == 8
            before = result.counters["captured_by_earlier_calls"]
        pages = [one.path for one in server.seen if one.path != "/robots.txt"]
        assert 8 - before <= len(pages) <= 8 + 1
        assert len(pages) - len(set(pages)) <= 1  # what was in flight may be asked again


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["garbage", "emptied"])
def test_a_damaged_journal_costs_a_second_request(tmp_path: Path, harm: str) -> None:
    """What is whole is kept, the rest is asked again, and the message says so."""
    spec = WebSpec.plain(hosts=1, pages=8, addresses=True)
    with SyntheticServer(spec) as server:
        with _crawl(tmp_path, "fetcher.server_delay_s=0.05") as context:
            segment = _segment(context, server.web.urls())
            (context.crawl.path / ".STOP").touch()
            run(context, FetchOptions())
            context.crawl.clear_stop()
            (journal,) = segment.journal_dir.glob("*.journal")
            data = journal.read_bytes()
            assert len(data) > 100
            journal.write_bytes(b"" if harm == "emptied" else data[:60] + b"\xff" * 40 + data[100:])
        with _crawl(tmp_path) as context:
            result = run(context, FetchOptions())
    assert result.counters["fetch_success"] == 8
    assert len(_rows(segment, "crawl_fetch")) == 8
    if harm != "emptied":
        assert "left torn were cut off and asked again" in result.message


def test_a_fetch_that_was_begun_comes_first(tmp_path: Path) -> None:
    """Only its journal knows when its hosts were asked last: no other segment before it."""
    spec = WebSpec.plain(hosts=1, pages=8, addresses=True)
    with SyntheticServer(spec) as server, _crawl(tmp_path, "fetcher.server_delay_s=0.2") as context:
        begun = _segment(context, server.web.urls())
        other = _segment(context, server.web.urls())
        (context.crawl.path / ".STOP").touch()
        run(context, FetchOptions(segment=begun.name))
        assert begun.state is SegmentState.FETCHING
        with pytest.raises(UserError, match=f"segment {begun.name} was begun"):
            run(context, FetchOptions(segment=other.name))
        run(context, FetchOptions())
        assert other.state is SegmentState.GENERATED


@pytest.mark.slow
def test_a_crash_between_the_commits_is_mended(tmp_path: Path) -> None:
    """crawl_parse is in and crawl_fetch is not: the same command commits both, once."""
    spec = WebSpec.plain(hosts=1, pages=3, addresses=True, share_redirect_temporary=1.0)
    with SyntheticServer(spec) as server, _crawl(tmp_path, "http.redirect_max=0") as context:
        segment = _segment(context, server.web.urls())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("filbert.store.segments.Segment.table", _breaking(segment))
            with pytest.raises(RuntimeError, match="killed"):
                run(context, FetchOptions())
        assert segment.state is SegmentState.FETCHING
        run(context, FetchOptions())
        assert len(_rows(segment, "crawl_fetch")) == 3
        assert len(_rows(segment, "crawl_parse")) == 2


def _breaking(segment: Segment) -> Any:
    """Return `Segment.table` that dies when crawl_fetch is to be committed."""
    real = type(segment).table

    def table(self: Segment, name: str) -> Any:
        found = real(self, name)
        if name == "crawl_fetch":

            def killed(_: Commit) -> int:
                raise RuntimeError("killed")

            found.commit = killed  # type: ignore[method-assign, assignment]
        return found

    return table


@pytest.mark.slow
def test_what_is_left_due_is_named(tmp_path: Path) -> None:
    """A host whose robots.txt is not to be had: no row, a name with the reason, a loud line."""
    spec = WebSpec.plain(hosts=1, pages=2, addresses=True, robots_missing=0.0, robots_error=1.0)
    with (
        SyntheticServer(spec) as server,
        _crawl(tmp_path, "robots.defer_retries=0") as context,
    ):
        urls = server.web.urls()
        segment = _segment(context, urls)
        result = run(context, FetchOptions())
        assert result.message.startswith("NOTHING WAS FETCHED")
        assert "robots.defer_*" in result.message
        assert result.counters["left_due.robots_unavailable"] == 2
        left = list(read_left_due(segment.left_due_dir))
        assert sorted(one.url for one in left) == sorted(urls)
        assert {one.reason for one in left} == {"robots_unavailable"}
        (why,) = {one.detail for one in left}
        assert re.fullmatch(
            r"robots\.txt of http://[0-9.]+:\d+ could not be had: HTTP 503 \(1 try\)", why
        )
        assert result.notes == (why,)
        assert _rows(segment, "crawl_fetch") == []
        assert segment.state is SegmentState.FETCHED


@pytest.mark.slow
def test_redirects_between_parts_become_rows(tmp_path: Path) -> None:
    """Two parts: a target of the other part waits for the next round; one's own is followed."""
    spec = WebSpec.plain(hosts=2, pages=2, addresses=True, share_redirect_abroad=1.0)
    with SyntheticServer(spec) as server, _crawl(tmp_path, "http.redirect_max=5") as context:
        urls = [server.web.url(0, 1), server.web.url(1, 1)]
        segment = _segment(context, urls, parts=[0, 1])
        run(context, FetchOptions())
        links = _rows(segment, "crawl_parse")
        assert {row["url"] for row in links} == {server.web.url(1, 0), server.web.url(0, 0)}
        assert {row["kind"] for row in links} == {"redirect"}
        assert {row["redirect_verdict"] for row in _rows(segment, "crawl_fetch")} == {"linked"}


@pytest.mark.slow
def test_the_next_round_knows_the_hosts(tmp_path: Path) -> None:
    """robots.txt is not asked again within a day, and the delay goes on from the last request."""
    spec = WebSpec.plain(hosts=1, pages=2, addresses=True)
    with SyntheticServer(spec) as server, _crawl(tmp_path) as context:
        for page in (0, 1):
            _segment(context, [server.web.url(0, page)])
            run(context, FetchOptions())
        assert [one.path for one in server.seen] == ["/robots.txt", "/", "/p/1.html"]


def test_other_peoples_hosts_want_a_name(tmp_path: Path) -> None:
    """Without `http.agent_name` only this machine is asked; the error shows how to set it."""
    with _crawl(tmp_path) as context:
        _segment(context, ["http://example.com/"])
        with pytest.raises(UserError, match=r"example\.com is not this machine") as refused:
            run(context, FetchOptions())
        assert 'agent_name = "my-robot"' in refused.value.hint


def test_a_foreign_link_does_not_stop_a_crawl_of_this_machine(tmp_path: Path) -> None:
    """Without a name the pages of this machine are fetched, and the others left due, unasked."""
    spec = WebSpec.plain(hosts=1, pages=2, addresses=True)
    with SyntheticServer(spec) as server, _crawl(tmp_path) as context:
        _segment(context, ["http://example.com/", *server.web.urls()])
        result = run(context, FetchOptions())
    assert result.counters["fetch_success"] == 2
    assert result.counters["left_due.no_agent_name"] == 1


def test_names_led_to_this_machine_want_none(tmp_path: Path) -> None:
    """`http.resolve` to loopback is this machine, `*.test` included."""
    from filbert.steps.fetch_checks import check_agent

    with _crawl(tmp_path, "http.resolve=*.test:80:127.0.0.1:9") as context:
        segment = _segment(context, ["http://h1.test/", "file:///etc/motd"])
        check_agent(context.settings, segment.table("crawl_generate").files())


def test_parts_made_by_host_refuse_queues_by_domain(tmp_path: Path) -> None:
    """Two processes must not ask one queue's hosts."""
    with _crawl(tmp_path, "fetcher.queue_mode=domain", "http.agent_name=x") as context:
        _segment(context, ["http://a.example.com/", "http://b.example.com/"], parts=[0, 1])
        with pytest.raises(UserError, match=r"parts .* were made by host"):
            run(context, FetchOptions())


def test_an_empty_folder_says_what_comes_first(tmp_path: Path) -> None:
    """No segment: the line names the command that makes one."""
    with _crawl(tmp_path) as context:
        result = run(context, FetchOptions())
        assert result.nothing_to_do
        assert "filbert generate" in result.message


def test_a_dead_worker_commits_nothing(tmp_path: Path) -> None:
    """An engine error leaves the segment as it was; the same command goes on."""

    class Broken:
        def run(self, task: object, parts: Sequence[Part]) -> Iterator[PartResult]:
            raise EngineError("the worker process of part 0 died")

    with _crawl(tmp_path) as context:
        segment = _segment(context, ["http://127.0.0.1:9/"])
        broken = StepContext(
            crawl=context.crawl,
            settings=context.settings,
            engine=Broken(),  # type: ignore[arg-type]
            plugins=context.plugins,
            clock=context.clock,
        )
        with pytest.raises(EngineError):
            run(broken, FetchOptions())
        assert not segment.has("crawl_fetch")
