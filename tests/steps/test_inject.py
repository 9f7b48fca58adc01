"""Inject: what seeds do to a crawldb."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.local import LocalEngine
from filbert.errors import DataError, UserError
from filbert.model.clock import FixedClock
from filbert.model.statuses import PageStatus
from filbert.plugins.registry import PluginRepository
from filbert.rules.urls import url_hash
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.settings.scoring import ScoringSettings
from filbert.settings.update import UpdateSettings
from filbert.settings.urls import UrlsSettings
from filbert.steps.context import StepContext
from filbert.steps.inject import InjectOptions, run
from filbert.steps.url_chain import agrees
from filbert.store.commits import Commit
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import ParquetSink, read_rows
from filbert.testing.paper_crawl import NOW, page_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from filbert.engine.base import Files, Query, Target, Written
    from filbert.steps.context import StepResult

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"


class Scene:
    """A crawl folder of four buckets, and the step on it."""

    def __init__(self, path: Path, engine: LocalEngine) -> None:
        self.clock = FixedClock(NOW)
        self.crawl = CrawlFolder.create(path / "crawl", clock=self.clock, buckets=4)
        self.settings = Settings()
        self._path = path
        self._engine = engine

    @property
    def context(self) -> StepContext:
        """The step's context, by the settings of now."""
        return StepContext(
            crawl=self.crawl,
            settings=self.settings,
            engine=self._engine,
            plugins=PluginRepository(self.settings, self.crawl.path),
            clock=self.clock,
        )

    def inject(self, *lines: str, **options: bool) -> StepResult:
        """Inject lines of a seed file."""
        return run(self.context, InjectOptions(seeds=(self.file(*lines),), **options))

    def file(self, *lines: str) -> str:
        """Write a seed file and return its path."""
        path = self._path / "seeds.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        return str(path)

    def note_origin(self, url: str) -> None:
        """Note where a page came from, as another command does."""
        table = self.crawl.table("origins")
        row = page_row("origins", url, origin="link", origin_url=B, first_seen=NOW)
        with self.crawl.scratch("origin") as scratch:
            with ParquetSink(table.schema, scratch, "origin") as sink:
                sink.append(row)
            table.commit(Commit(step="updatedb", add=sink.files))

    def put(self, url: str, **said: Any) -> None:
        """Put a page into the crawldb."""
        table = self.crawl.table("crawldb")
        row = page_row("crawldb", url, bucket=url_hash(url) % 4, **said)
        with self.crawl.scratch("put") as scratch:
            with ParquetSink(table.schema, scratch, "put") as sink:
                sink.append(row)
            table.commit(Commit(step="put", add=sink.files))

    def pages(self) -> dict[str, dict[str, Any]]:
        """The rows of the crawldb."""
        table = self.crawl.table("crawldb")
        rows = list(read_rows(table.files(), table.schema.names))
        assert len({row["url"] for row in rows}) == len(rows)
        return {row["url"]: row for row in rows}

    def origins(self) -> dict[str, str]:
        """Where pages came from."""
        table = self.crawl.table("origins")
        rows = list(read_rows(table.files(), table.schema.names))
        assert len({row["url"] for row in rows}) == len(rows)
        return {row["url"]: row["origin_url"] for row in rows}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """An empty crawl folder."""
    with LocalEngine(EngineSettings(processes=1, threads=1), tmp_path / "spill") as engine:
        yield Scene(tmp_path, engine)


def test_a_seed_becomes_an_unfetched_page(scene: Scene) -> None:
    """Normalised, with the settings' score and interval, due now, in its bucket."""
    scene.inject("HTTP://A.org:80#top", f"{B}\tnutch.score=2.5\tnutch.fetchInterval.fixed=60\tk=v")
    pages = scene.pages()
    names = ("status", "fetch_time", "score", "fetch_interval", "fixed_interval", "retries", "seq")

    assert [pages[A][name] for name in names] == [1, NOW, 1.0, 2_592_000, None, 0, 1]
    assert [pages[B][name] for name in names] == [1, NOW, 2.5, 60, 60.0, 0, 1]
    assert pages[B]["metadata"] == {"k": "v"}
    assert (pages[A]["host"], pages[A]["domain"]) == ("a.org", "a.org")
    assert all(page["bucket"] == url_hash(url) % 4 for url, page in pages.items())


def test_the_same_seeds_again_change_nothing(scene: Scene) -> None:
    """No new version of any table."""
    scene.inject(A, B)
    before = [scene.crawl.table(name).version() for name in ("crawldb", "origins")]
    scene.clock.advance(1000)
    result = scene.inject(A, B)

    assert [scene.crawl.table(name).version() for name in ("crawldb", "origins")] == before
    assert (result.counters["new_pages"], result.counters["merged"]) == (0, 2)


def test_the_last_line_of_a_url_wins(scene: Scene) -> None:
    """Of several lines for one URL, as in Nutch."""
    scene.inject(f"{A}\tnutch.score=1\tk=1", f"{A}#x\tnutch.score=3", f"{A}\tnutch.score=2\tm=2")

    assert scene.pages()[A]["score"] == 2.0
    assert scene.pages()[A]["metadata"] == {"m": "2"}


def test_what_is_there_stays(scene: Scene) -> None:
    """Without overwrite and update, a page that is there is not touched."""
    scene.put(A, status=PageStatus.DB_FETCHED, score=7.0, fetch_time=5)
    before = scene.pages()
    scene.inject(f"{A}\tnutch.score=2\tk=v")

    assert scene.pages() == before


def test_overwrite_forgets_the_history(scene: Scene) -> None:
    """`--overwrite`: the page is as new."""
    scene.put(A, status=PageStatus.DB_FETCHED, score=7.0, retries=2, signature=b"x")
    scene.inject(A, overwrite=True, update=True)
    page = scene.pages()[A]

    assert [page[name] for name in ("status", "score", "retries", "signature", "fetch_time")] == [
        *(1, 1.0, 0, None, NOW)
    ]


def test_update_adds_to_the_page(scene: Scene) -> None:
    """`--update`: metadata is overlaid; score and interval only where not the settings' own."""
    scene.put(A, status=PageStatus.DB_FETCHED, score=7.0, metadata={"a": "1", "b": "1"})
    scene.put(B, status=PageStatus.DB_FETCHED, score=7.0)
    scene.inject(
        f"{A}\tnutch.score=1.0\tnutch.fetchInterval=60\tb=2\tc=3",
        f"{B}\tnutch.score=2.0",
        update=True,
    )
    pages = scene.pages()

    assert [pages[A][name] for name in ("status", "score", "fetch_interval")] == [2, 7.0, 60]
    assert pages[A]["metadata"] == {"a": "1", "b": "2", "c": "3"}
    assert pages[B]["score"] == 2.0


def test_an_update_that_changes_nothing_writes_nothing(scene: Scene) -> None:
    """Updating twice is the same as updating once."""
    scene.inject(f"{A}\tnutch.score=3\tk=v\tl=w", update=True)
    version = scene.crawl.table("crawldb").version()
    scene.inject(f"{A}\tnutch.score=3\tk=v\tl=w", update=True)

    assert scene.crawl.table("crawldb").version() == version


def test_purge_takes_gone_pages(scene: Scene) -> None:
    """`update.purge_404`: pages that are gone leave; a seed of such a page is new."""
    scene.put(A, status=PageStatus.DB_GONE, score=7.0)
    scene.put(B, status=PageStatus.DB_GONE)
    scene.put(C, status=PageStatus.DB_FETCHED)
    scene.settings = Settings(update=UpdateSettings(purge_404=True))
    result = scene.inject(A)

    assert {url: page["status"] for url, page in scene.pages().items()} == {A: 1, C: 2}
    assert result.counters["purged"] == 2


def test_bad_lines_are_reported_and_cost_no_other(scene: Scene) -> None:
    """Each with its reason; the others are injected."""
    lines = ["a.org", f"{B}x.gif", "# c", "", f"{A}\tnutch.score=x", "http://c.org/ k=v"]
    result = scene.inject(*lines, C)

    assert set(scene.pages()) == {A, C}
    assert {name: count for name, count in result.counters.items() if count} == {
        "lines": 5,
        "injected": 2,
        "bad_no_scheme": 1,
        "rejected_regex": 1,
        "bad_metadata": 1,
        "bad_blank_for_tab": 1,
        "unique_seeds": 2,
        "new_pages": 2,
    }


def test_no_seed_at_all_is_an_error_that_changes_nothing(scene: Scene) -> None:
    """Exit code 2, with the reasons counted."""
    with pytest.raises(UserError, match="not one of 2 lines is a seed") as caught:
        scene.inject("a.org", "b.org")

    assert "2 bad_no_scheme" in caught.value.message
    assert scene.crawl.table("crawldb").version() == 0


def test_blank_seeds_are_told_from_wrong_ones(scene: Scene) -> None:
    """Comments alone are no lines that failed."""
    with pytest.raises(UserError, match="every line is blank or a comment"):
        scene.inject("", "# nothing yet")


def test_filters_can_be_left_out(scene: Scene) -> None:
    """`--no-filter --no-normalize`: the URL as it is, and the crawldb says that it is mixed."""
    url = "http://A.org/x.gif?s=1#top"
    scene.inject(url, filter=False, normalize=False)

    assert set(scene.pages()) == {url}
    assert not agrees(scene.crawl.table("crawldb"), scene.context.plugins.url_chain())


def test_the_crawldb_notes_the_chains_that_its_rows_passed(scene: Scene) -> None:
    """So that generate need not ask them again; other settings, other chains."""
    scene.inject(A)
    table = scene.crawl.table("crawldb")
    assert agrees(table, scene.context.plugins.url_chain())
    scene.settings = Settings(urls=UrlsSettings(regex_filter_rules="-b\n+."))
    assert not agrees(table, scene.context.plugins.url_chain())
    scene.inject(C)
    assert not agrees(table, scene.context.plugins.url_chain())
    scene.inject(C, filter_normalize_all=True, overwrite=True)
    assert agrees(table, scene.context.plugins.url_chain())


def test_filter_normalize_all(scene: Scene) -> None:
    """Pages that are there are dropped, renamed and merged; of equal ones the latest stays."""
    scene.put("http://a.org/x.gif", status=PageStatus.DB_FETCHED)
    scene.put("http://B.org/", status=PageStatus.DB_FETCHED, fetch_time=9, score=9.0)
    scene.put("http://b.org:80/", status=PageStatus.DB_FETCHED, fetch_time=5, score=5.0)
    scene.put(B, status=PageStatus.DB_FETCHED, fetch_time=7, score=7.0)
    scene.put("http://D.org/", status=PageStatus.DB_FETCHED)
    scene.inject(A, filter_normalize_all=True)
    pages = scene.pages()

    assert set(pages) == {A, B, "http://d.org/"}
    assert pages[B]["score"] == 9.0
    assert all(page["bucket"] == url_hash(url) % 4 for url, page in pages.items())


def test_origins_say_file_and_line(scene: Scene, tmp_path: Path) -> None:
    """Once, when a page is first seen; a crash between the two commits is mended."""
    scene.inject("# c", A)
    scene.put(B, status=PageStatus.DB_UNFETCHED)
    scene.inject(A, B, C)

    seeds = tmp_path / "seeds.txt"
    assert scene.origins() == {A: f"{seeds}:2", B: f"{seeds}:2", C: f"{seeds}:3"}


def test_folders_urls_and_packed_files(scene: Scene, tmp_path: Path) -> None:
    """Every file of a folder counts, gzip or not; an argument may be a URL."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "one.txt").write_bytes(b"\xef\xbb\xbf" + A.encode() + b"\r\n")
    (folder / "two.txt.gz").write_bytes(gzip.compress(B.encode()))
    (folder / ".hidden").write_text("http://hidden.org/")
    run(scene.context, InjectOptions(seeds=(str(folder), C)))

    assert set(scene.pages()) == {A, B, C}
    assert scene.origins()[C] == "command line"


@pytest.mark.parametrize("seed", ["missing.txt", "example.org"])
def test_a_missing_file_is_an_error(scene: Scene, seed: str) -> None:
    """It is named."""
    with pytest.raises(UserError, match=f"there is no seed file {seed}"):
        run(scene.context, InjectOptions(seeds=(seed,)))


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        ("", "a seed is blank"),
        ("http://", "1 bad_no_host"),
        ("http://a.org:99999/", "1 bad_no_port"),
    ],
)
def test_a_seed_that_names_nothing_is_an_error(scene: Scene, seed: str, words: str) -> None:
    """Not the folder one stands in, nor a page that no server can be asked for."""
    with pytest.raises(UserError, match=words):
        run(scene.context, InjectOptions(seeds=(seed,)))


def test_local_seeds_open_the_guard_for_themselves(scene: Scene) -> None:
    """host:port of each, once, beside what stands there already."""
    scene.crawl.allowed_hosts_file.write_text("wiki:80\n")
    scene.inject("http://localhost:8080/", "http://127.0.0.1/a", "http://localhost:8080/b", A)
    scene.inject("http://localhost:8080/")

    text = scene.crawl.allowed_hosts_file.read_text()
    assert text == "wiki:80\n127.0.0.1:80\nlocalhost:8080\n"


def test_seeds_begin_the_depth(scene: Scene) -> None:
    """With scoring `depth`, a seed has depth 1 and may say how deep links from it may go."""
    scene.inject(f"{A}\t_maxdepth_=3")

    assert (scene.pages()[A]["depth"], scene.pages()[A]["max_depth"]) == (None, 3)
    assert ScoringSettings().names == ("opic",)


def test_applying_the_chains_to_all_is_noted_though_nothing_changes(scene: Scene) -> None:
    """So that generate need not do it again; and noted once."""
    scene.put(A, status=PageStatus.DB_FETCHED)
    scene.inject(A, filter_normalize_all=True)
    table = scene.crawl.table("crawldb")
    version = table.version()

    assert agrees(table, scene.context.plugins.url_chain())
    scene.inject(A, filter_normalize_all=True)
    assert table.version() == version


def test_origins_noted_meanwhile_are_not_noted_twice(scene: Scene) -> None:
    """A page's origin stands once, though another command noted it while the seeds were read."""
    context = scene.context
    engine = context.engine

    class Meanwhile:
        """The engine, while somebody else notes the same origin."""

        run = engine.run

        def execute(self, query: Query, views: Mapping[str, Files], into: Target) -> Written:
            written = engine.execute(query, views, into)
            if query.name == "inject_origins":
                scene.note_origin(A)
            return written

    seeds = scene.file(A)
    with pytest.raises(DataError, match="origins was changed by another command"):
        run(replace(context, engine=Meanwhile()), InjectOptions(seeds=(seeds,)))
    run(context, InjectOptions(seeds=(seeds,)))
    got = [row["url"] for row in read_rows(scene.crawl.table("origins").files())]
    assert got == [A]
