"""updatedb: what a round does to crawldb and origins, and that it does it once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from filbert.cli.updatedb import command
from filbert.engine.local import LocalEngine
from filbert.errors import DataError, UserError
from filbert.model.clock import FixedClock, iso
from filbert.model.statuses import FetchStatus, PageStatus
from filbert.plugins.registry import PluginRepository
from filbert.rules.urls import url_hash
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.steps.context import StepContext
from filbert.steps.update import UpdateOptions, run, show_sql
from filbert.steps.url_chain import CHAIN_KEY, MIXED
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import read_rows
from filbert.store.tables import Table
from filbert.testing.paper_crawl import NOW, PaperCrawl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from filbert.steps.context import StepResult
    from filbert.store.segments import Segment
    from filbert.store.tables import Commit

pytestmark = pytest.mark.slow  # each runs several large queries; the rules' tests are quick

A, B, C = "http://a.example.org/", "http://b.example.org/", "http://c.example.org/"
DAY_MS = 86_400_000
MONTH_S = 2_592_000


class Scene(PaperCrawl):
    """A crawl folder of two buckets, and the step on it."""

    def __init__(self, path: Path, engine: LocalEngine) -> None:
        CrawlFolder.create(path, clock=FixedClock(NOW), buckets=2)
        super().__init__(path)
        self.settings = Settings()
        self._engine = engine

    def set(self, **values: Any) -> None:
        """Change settings: `section__name=value`."""
        for name, value in values.items():
            section, _, field = name.partition("__")
            changed = getattr(self.settings, section).model_copy(update={field: value})
            self.settings = self.settings.model_copy(update={section: changed})

    @property
    def context(self) -> StepContext:
        """The step's context, by the settings of now."""
        return StepContext(
            crawl=self.folder,
            settings=self.settings,
            engine=self._engine,
            plugins=PluginRepository(self.settings, self.folder.path),
            clock=self.clock,
        )

    def crawldb(
        self,
        pages: Mapping[str, PageStatus | Mapping[str, Any]],
        *,
        step: str = "updatedb",
        absorbs: Sequence[Segment] = (),
    ) -> int:
        """Make a version of the crawldb of just these pages, in the right buckets."""
        rows: dict[str, Mapping[str, Any]] = {
            url: {
                **({"status": said} if isinstance(said, PageStatus) else said),
                "bucket": url_hash(url) % 2,
            }
            for url, said in pages.items()
        }
        return super().crawldb(rows, step=step, absorbs=absorbs)

    def update(self, *segments: Segment, **options: bool) -> StepResult:
        """Run updatedb."""
        names = tuple(segment.name for segment in segments)
        return run(self.context, UpdateOptions(segments=names, **options))

    def pages(self, *columns: str) -> dict[str, Any]:
        """The crawldb: URL to a column's value, or to several."""
        return self._read("crawldb", columns)

    def origins(self) -> dict[str, Any]:
        """URL to origin and origin_url."""
        return self._read("origins", ("origin", "origin_url"))

    def _read(self, name: str, columns: tuple[str, ...]) -> dict[str, Any]:
        found = {}
        rows = list(read_rows(self.folder.table(name).files(), ("url", *columns)))
        for row in rows:
            values = tuple(row[column] for column in columns)
            found[row["url"]] = values[0] if len(values) == 1 else values
        assert len(found) == len(rows), "a key stands twice"
        return found


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    """An engine for the module."""
    settings = EngineSettings(threads=1, processes=1)
    with LocalEngine(settings, tmp_path_factory.mktemp("engine")) as made:
        yield made


@pytest.fixture
def scene(tmp_path: Path, engine: LocalEngine) -> Scene:
    """A crawl folder with nothing in it."""
    return Scene(tmp_path / "crawl", engine)


def link(source: str, target: str, *, ordinal: int = 0, **said: Any) -> dict[str, Any]:
    """A row of crawl_parse: `source` links to `target`."""
    return {
        "url": target,
        "from_url": source,
        "ordinal": ordinal,
        "kind": "outlink",
        "to_db": True,
        "score": 0.5,
        **said,
    }


def test_a_round_brings_statuses_and_new_pages(scene: Scene) -> None:
    """Fetched pages get status and next fetch, linked pages enter, all of it is counted."""
    segment = scene.segment({A: {"text": "a", "score": 2.0}}, links=[link(A, B), link(A, C)])
    result = scene.update()
    now = scene.clock.now_ms()
    assert scene.pages("status", "score", "fetch_time", "fetch_interval") == {
        A: (PageStatus.DB_FETCHED, 2.0, NOW + MONTH_S * 1000, MONTH_S),
        B: (PageStatus.DB_UNFETCHED, 0.5, now, MONTH_S),
        C: (PageStatus.DB_UNFETCHED, 0.5, now, MONTH_S),
    }
    assert scene.origins() == {A: ("link", None), B: ("link", A), C: ("link", A)}
    assert dict(result.counters) == {
        "fetches": 1,
        "fetch_success": 1,
        "linked_pages": 2,
        "new_pages": 3,
        "pages": 3,
    }
    assert result.segments == (segment.name,)
    assert result.message == ("1 segment absorbed, 1 fetch, 3 new pages, 3 pages in the crawldb")


def test_the_commit_keeps_pages_by_status_and_what_became_of_whom(scene: Scene) -> None:
    """The newest commit says how many pages have each status, and how fetched ones changed."""
    scene.segment({A: {"text": "a"}, B: {"status": FetchStatus.FETCH_GONE}}, links=[link(A, C)])
    scene.update()
    record = scene.folder.table("crawldb").history()[0]
    assert record.step == "updatedb"
    assert json.loads(record.metadata["statuses"]) == {
        "db_unfetched": 1,
        "db_fetched": 1,
        "db_gone": 1,
    }
    assert json.loads(record.metadata["transitions"]) == {
        "new → db_fetched": 1,
        "new → db_gone": 1,
    }


def test_a_segment_is_absorbed_once(scene: Scene) -> None:
    """A segment absorbed before changes nothing, named or not; the message says so."""
    segment = scene.segment({A: {"text": "a"}}, links=[link(A, B)])
    scene.update()
    before = scene.folder.table("crawldb").version()
    for result in (scene.update(), scene.update(segment)):
        assert result.nothing_to_do
        assert result.message == "the crawldb has absorbed all segments"
    assert scene.folder.table("crawldb").version() == before


def test_rolled_back_it_can_be_absorbed_again(scene: Scene) -> None:
    """After a rollback of the version that absorbed it, a segment is absorbed anew."""
    scene.segment({A: {"text": "a"}}, links=[link(A, B)])
    scene.update()
    for name in ("origins", "crawldb"):
        scene.folder.table(name).restore(0)
    assert scene.pages("status") == {}
    assert not scene.update().nothing_to_do
    assert set(scene.pages("status")) == {A, B}
    assert set(scene.origins()) == {A, B}


def test_several_segments_are_one_commit_and_the_newest_fetch_counts(scene: Scene) -> None:
    """Of two fetches of a page in one call, the later one decides; links of both add up."""
    scene.segment({A: {"text": "a"}}, links=[link(A, C)])
    scene.segment({A: {"status": FetchStatus.FETCH_GONE}, B: {"text": "b"}}, links=[link(B, C)])
    scene.update()
    assert scene.folder.table("crawldb").version() == 1
    assert scene.pages("status", "score") == {
        A: (PageStatus.DB_GONE, 1.0),
        B: (PageStatus.DB_FETCHED, 1.0),
        C: (PageStatus.DB_UNFETCHED, 1.0),
    }


def test_rows_of_a_page_without_a_capture_do_not_count(scene: Scene) -> None:
    """crawl_fetch is the commit record: links of a page that is not there are ignored."""
    scene.segment({A: {"text": "a"}}, links=[link(A, B), link("http://lost.example/", C)])
    scene.update()
    assert set(scene.pages("status")) == {A, B}


def test_rows_that_are_not_for_the_crawldb_do_not_enter(scene: Scene) -> None:
    """A link with to_db false is none of updatedb's business."""
    scene.segment({A: {"text": "a"}}, links=[link(A, B, to_db=False)])
    scene.update()
    assert set(scene.pages("status")) == {A}


def test_of_too_many_links_the_best_count(scene: Scene) -> None:
    """A page with more links than update.max_inlinks gets the scores of the best ones."""
    scene.set(update__max_inlinks=2)
    scores = (0.5, 4.0, 2.0)
    links = [link(A, B, ordinal=n, score=score) for n, score in enumerate(scores)]
    scene.segment({A: {"text": "a"}}, links=links)
    scene.update()
    assert scene.pages("score")[B] == 6.0


def test_segments_that_disagree_on_a_domain_make_one_page(scene: Scene) -> None:
    """A URL whose links say different domains (the suffix list changed) stands once."""
    scene.segment(
        {A: {"text": "a"}},
        links=[link(A, B, domain="z.org"), link(A, B, ordinal=1, domain="a.org")],
    )
    scene.update()
    assert scene.pages("domain", "score")[B] == ("a.org", 1.0)


def test_an_unchanged_page_is_not_modified(scene: Scene) -> None:
    """The same signature again is db_notmodified and keeps the time of change."""
    signed = {"url": A, "from_url": A, "kind": "signature", "to_db": True, "signature": b"same"}
    scene.segment({A: {"text": "a"}}, links=[signed])
    scene.update()
    scene.segment({A: {"text": "a"}}, links=[signed])
    scene.update()
    assert scene.pages("status", "signature", "modified_time") == {
        A: (PageStatus.DB_NOTMODIFIED, b"same", NOW)
    }


def test_parse_metadata_and_typed_columns_are_laid_over_the_old(scene: Scene) -> None:
    """Metadata of fetch and parse win over what the page had; the rest of it stays."""
    scene.crawldb({A: {"status": PageStatus.DB_UNFETCHED, "metadata": {"k": "old", "seed": "1"}}})
    parsed = {"url": A, "from_url": A, "kind": "parse_metadata", "to_db": True}
    scene.segment(
        {A: {"text": "a", "content_type": "text/html", "metadata": {"k": "fetch"}}},
        links=[{**parsed, "metadata": {"topic": "x"}}],
    )
    scene.update()
    assert scene.pages("content_type", "metadata") == {
        A: ("text/html", {"k": "fetch", "seed": "1", "topic": "x"})
    }


def test_redirects_and_documents_inside_have_their_origin(scene: Scene) -> None:
    """A target followed at once, one left for later, a refresh and an inner document."""
    hop = {"hop": 1, "text": "b"}
    scene.segment(
        {
            A: {"status": FetchStatus.FETCH_REDIR_TEMP, "redirect_url": B},
            B: hop,
            C: {"text": "c"},
        },
        links=[
            link(A, "http://later.example/", kind="redirect"),
            link(C, "http://soon.example/", kind="refresh"),
            link(C, "http://inner.example/", kind="subdocument"),
        ],
    )
    scene.update()
    assert scene.pages("status") == {
        A: PageStatus.DB_REDIR_TEMP,
        B: PageStatus.DB_FETCHED,
        C: PageStatus.DB_FETCHED,
        "http://later.example/": PageStatus.DB_UNFETCHED,
        "http://soon.example/": PageStatus.DB_UNFETCHED,
        "http://inner.example/": PageStatus.DB_FETCHED,
    }
    assert scene.origins() == {
        A: ("link", None),
        B: ("redirect", A),
        C: ("link", None),
        "http://later.example/": ("redirect", A),
        "http://soon.example/": ("refresh", C),
        "http://inner.example/": ("link", C),
    }


def test_without_additions_only_known_pages_change(scene: Scene) -> None:
    """`--no-additions` lets no page in."""
    scene.crawldb({A: PageStatus.DB_UNFETCHED})
    scene.segment({A: {"text": "a"}}, links=[link(A, B)])
    scene.update(additions=False)
    assert scene.pages("status") == {A: PageStatus.DB_FETCHED}
    assert scene.origins() == {}


def test_gone_pages_leave_when_they_are_purged(scene: Scene) -> None:
    """With update.purge_404 pages that were db_gone are dropped, in every bucket."""
    scene.crawldb({B: PageStatus.DB_GONE, C: PageStatus.DB_ORPHAN})
    scene.segment({A: {"text": "a"}})
    scene.set(update__purge_404=True)
    scene.update()
    assert scene.pages("status") == {A: PageStatus.DB_FETCHED, C: PageStatus.DB_ORPHAN}
    scene.set(update__purge_orphans=True)
    scene.segment({A: {"text": "a"}})
    scene.update()
    assert set(scene.pages("status")) == {A}


def test_a_purge_needs_no_segment(scene: Scene) -> None:
    """Pages that are gone leave when it is asked for, though there is nothing to absorb."""
    scene.crawldb({A: PageStatus.DB_FETCHED, B: PageStatus.DB_GONE})
    scene.set(update__purge_404=True)
    scene.update()
    assert set(scene.pages("status")) == {A}


def test_a_page_generated_is_no_longer_held_once_absorbed(scene: Scene) -> None:
    """generate_time goes with the fetch that it was for."""
    scene.crawldb(
        {
            A: {"status": PageStatus.DB_UNFETCHED, "generate_time": NOW},
            B: {"status": PageStatus.DB_UNFETCHED, "generate_time": NOW},
        }
    )
    scene.segment({A: {"text": "a"}})
    scene.update()
    assert scene.pages("generate_time") == {A: None, B: NOW}


def test_changed_filters_are_applied_to_every_page(scene: Scene) -> None:
    """After a change of the filters, updatedb drops what they reject, old or new, and says so."""
    scene.segment({A: {"text": "a"}}, links=[link(A, B), link(A, C)])
    scene.update()
    scene.set(urls__filters=("domain",), urls__domain_filter_rules="b.example.org\na.example.org")
    scene.segment({A: {"text": "a"}}, links=[link(A, "http://c.example.org/new")])
    result = scene.update()
    assert set(scene.pages("status")) == {A, B}
    assert result.counters["dropped_domain"] == 2
    assert "2 URLs dropped by the URL chains" in result.message
    record = scene.folder.table("crawldb").history()[0]
    assert record.metadata[CHAIN_KEY] == scene.context.plugins.url_chain().fingerprint()


def test_pages_let_in_past_the_filters_stay(scene: Scene) -> None:
    """A crawldb with pages that were let in on purpose is not filtered unless asked."""
    scene.set(parse__filter_urls=False)
    scene.segment({A: {"text": "a"}}, links=[link(A, "http://x.example/a.gif")])
    scene.update()
    assert scene.folder.table("crawldb").history()[0].metadata[CHAIN_KEY] == MIXED
    scene.segment({A: {"text": "a"}})
    scene.update()
    assert "http://x.example/a.gif" in scene.pages("status")
    scene.update(filter=True)
    assert set(scene.pages("status")) == {A}


def test_pages_whose_urls_become_one_are_merged(scene: Scene) -> None:
    """Asked to normalise, two spellings of a page become one, in old pages and in segments."""
    odd = "HTTP://A.example.org:80/"
    scene.crawldb({odd: {"status": PageStatus.DB_FETCHED, "score": 3.0}})
    scene.segment({odd: {"text": "a"}}, links=[link(odd, "http://b.example.org:80/")])
    scene.update(normalize=True)
    assert scene.pages("status", "score", "host") == {
        A: (PageStatus.DB_FETCHED, 3.0, "a.example.org"),
        B: (PageStatus.DB_UNFETCHED, 0.5, "b.example.org"),
    }


def test_a_segment_that_is_not_parsed_is_not_absorbed(scene: Scene) -> None:
    """Named, it is an error that says what to do; else it waits, and the message says so."""
    segment = scene.segment({A: {"text": "a"}})
    for path in segment.table("parse_data").log_path.iterdir():
        path.unlink()
    assert scene.update().message == (
        "the crawldb is up to date, but for 1 segment that is not parsed yet"
    )
    with pytest.raises(UserError, match="is fetched, not yet parsed") as caught:
        scene.update(segment)
    assert f"filbert parse {scene.folder.path} {segment.name}" in caught.value.hint


def test_a_crash_between_origins_and_crawldb_doubles_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Origins go first; the same command afterwards adds none of them twice."""
    scene.segment({A: {"text": "a"}}, links=[link(A, B)])
    commit = Table.commit

    def breaks(table: Table, wanted: Commit) -> int:
        if table.name == "crawldb":
            raise DataError("killed")
        return commit(table, wanted)

    monkeypatch.setattr(Table, "commit", breaks)
    with pytest.raises(DataError, match="killed"):
        scene.update()
    monkeypatch.undo()
    assert scene.pages("status") == {}
    scene.segment({C: {"text": "c"}}, links=[link(C, B)])
    scene.update()
    assert set(scene.pages("status")) == {A, B, C}
    assert set(scene.origins()) == {A, B, C}


def test_another_writer_in_between_is_a_conflict(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the crawldb changed meanwhile, nothing is committed and the same command goes on."""
    scene.segment({A: {"text": "a"}}, links=[link(A, B)])
    commit = Table.commit

    def intrudes(table: Table, wanted: Commit) -> int:
        if table.name == "origins":
            scene.crawldb({C: PageStatus.DB_UNFETCHED}, step="inject")
        return commit(table, wanted)

    monkeypatch.setattr(Table, "commit", intrudes)
    with pytest.raises(DataError, match="changed by another"):
        scene.update()
    monkeypatch.undo()
    assert set(scene.pages("status")) == {C}
    scene.update()
    assert set(scene.pages("status")) == {A, B, C}


def test_show_sql_prints_the_queries_and_changes_nothing(scene: Scene) -> None:
    """The queries of both halves, as they would run."""
    text = show_sql(scene.context, UpdateOptions())
    assert len(text.split(";\n\n")) == 5
    assert "full join round r on o.url = r.url" in text
    assert "{{" not in text
    shown = CliRunner().invoke(command, [str(scene.folder.path), "--show-sql"])
    assert (shown.exit_code, shown.output.count("full join round")) == (0, 1)
    assert scene.folder.table("crawldb").version() == 0


def test_the_command_says_what_it_did(scene: Scene) -> None:
    """One line on stdout, and nothing to do the second time."""
    scene.segment({A: {"text": "a"}}, links=[link(A, B)])
    path = str(scene.folder.path)
    first = CliRunner().invoke(command, [path])
    assert first.output == "1 segment absorbed, 1 fetch, 2 new pages, 2 pages in the crawldb\n"
    assert CliRunner().invoke(command, [path]).output == "the crawldb has absorbed all segments\n"


def test_what_was_rolled_back_is_absorbed_again_aloud(scene: Scene) -> None:
    """The message names the segment and when it was undone; what is left out waits to be named."""
    scene.crawldb({A: PageStatus.DB_UNFETCHED})
    segment = scene.segment({A: {}})
    run(scene.context, UpdateOptions())
    scene.folder.table("crawldb").restore(1)
    when = iso(scene.clock.now_ms())
    assert run(scene.context, UpdateOptions()).message.endswith(
        f"; segment {segment.name}, rolled back at {when}, is absorbed again"
    )
    scene.folder.table("crawldb").restore(1)
    segment.leave_out("rollback")
    assert run(scene.context, UpdateOptions()).nothing_to_do
    assert run(scene.context, UpdateOptions(segments=(segment.name,))).segments == (segment.name,)
    assert not segment.left_out
