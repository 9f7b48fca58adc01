"""What of a crawl is in the index, and that it stays true."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.local import LocalEngine
from filbert.errors import DataError, UserError
from filbert.model.statuses import FetchStatus, PageStatus, ParseMajor
from filbert.plugins.registry import PluginRepository
from filbert.search.searcher import SearchIndex
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.settings.index import IndexSettings
from filbert.settings.search import SearchSettings
from filbert.steps import clean, index
from filbert.steps.clean import CleanOptions
from filbert.steps.context import StepContext
from filbert.steps.index import IndexOptions
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from filbert.steps.context import StepResult

OAK, HAZEL, OLD = "http://oak.test/", "http://hazel.test/nuts", "http://old.test/"
FETCHED = PageStatus.DB_FETCHED
SEARCH = SearchSettings(writer_memory_mb=16)


@pytest.fixture
def paper(tmp_path: Path) -> PaperCrawl:
    """An empty crawl folder."""
    return PaperCrawl(tmp_path / "crawl")


@pytest.fixture
def context(paper: PaperCrawl, tmp_path: Path) -> Iterator[Callable[..., StepContext]]:
    """Makes a step's context; `index=` changes settings of that section."""
    with LocalEngine(EngineSettings(processes=1), tmp_path / "spill") as engine:

        def make(**changes: Any) -> StepContext:
            settings = Settings(index=IndexSettings(**changes), search=SEARCH)
            return StepContext(
                crawl=paper.folder,
                settings=settings,
                engine=engine,
                plugins=PluginRepository(settings, paper.folder.path),
                clock=paper.clock,
            )

        yield make


def opened(paper: PaperCrawl) -> SearchIndex:
    """The index of the crawl."""
    return SearchIndex.open(paper.folder.index_dir, SEARCH)


def counted(result: StepResult) -> dict[str, int]:
    """The counters of a result that are not zero."""
    return {name: count for name, count in result.counters.items() if count}


def test_pages_become_documents(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """Text, title, anchors, score, segment and digest of a page are in its document."""
    segment = paper.segment(
        {
            OAK: {"title": "Oak", "text": "acorns", "parsed": {"language": "en"}},
            HAZEL: {"text": "nuts"},
        }
    )
    paper.crawldb({OAK: {"status": FETCHED, "score": 4.0}, HAZEL: FETCHED}, absorbs=[segment])
    paper.rows("linkdb", [{"url": OAK, "from_url": HAZEL, "anchor": "the big tree"}])
    result = index.run(context(), IndexOptions())
    document = opened(paper).document(OAK)
    assert document is not None
    got = {name: document[name] for name in ("title", "content", "anchor", "segment", "lang", "id")}
    assert counted(result) == {"indexed": 2}
    assert got == {
        "title": ["Oak"],
        "content": ["acorns"],
        "anchor": ["the big tree"],
        "segment": [segment.name],
        "lang": ["en"],
        "id": [OAK],
    }
    assert [hit.url for hit in opened(paper).search("big tree").hits] == [OAK]


def test_second_run_does_nothing(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """What the index has absorbed is not absorbed again; the step says so."""
    segment = paper.segment({OAK: {"text": "acorns"}})
    paper.crawldb({OAK: FETCHED}, absorbs=[segment])
    index.run(context(), IndexOptions())
    result = index.run(context(), IndexOptions())
    got = (result.nothing_to_do, result.message, counted(result))
    assert got == (True, "the index is up to date", {})


def test_newer_segment_replaces(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """The newest fetch of a page is the one in the index; a transient failure says nothing."""
    first = paper.segment({OAK: {"text": "one"}, HAZEL: {"text": "one"}})
    second = paper.segment({OAK: {"text": "two"}, HAZEL: {"status": FetchStatus.FETCH_RETRY}})
    paper.crawldb({OAK: FETCHED, HAZEL: FETCHED}, absorbs=[first, second])
    index.run(context(), IndexOptions())
    got = {url: (opened(paper).document(url) or {}).get("content") for url in (OAK, HAZEL)}
    assert got == {OAK: ["two"], HAZEL: ["one"]}


DEFAULT_VERDICTS: dict[str, tuple[dict[str, Any], PageStatus, str]] = {
    "http://a.test/": ({"text": "x"}, FETCHED, "indexed"),
    "http://b.test/": ({"text": "x"}, PageStatus.DB_GONE, "skip_gone"),
    "http://c.test/": ({"text": "x"}, PageStatus.DB_DUPLICATE, "skip_duplicate"),
    "http://d.test/": ({"text": "x"}, PageStatus.DB_REDIR_TEMP, "skip_redirect"),
    "http://e.test/": ({"text": "x"}, PageStatus.DB_ORPHAN, "skip_orphan"),
    "http://f.test/": ({"status": FetchStatus.FETCH_GONE}, FETCHED, "skip_gone"),
    "http://g.test/": ({"status": FetchStatus.FETCH_REDIR_PERM}, FETCHED, "skip_redirect"),
    "http://h.test/": ({}, FETCHED, "skip_not_parsed"),
    "http://i.test/": (
        {"text": "x", "parsed": {"major": ParseMajor.FAILED}},
        FETCHED,
        "skip_parse_failed",
    ),
    "http://j.test/": ({"status": FetchStatus.PARSE_FAILED}, FETCHED, "skip_not_fetched"),
    "http://k.test/": ({"text": "x", "parsed": {"robots_noindex": True}}, FETCHED, "indexed"),
    "http://l.test/": ({"text": "x"}, PageStatus.DB_NOTMODIFIED, "indexed"),
}


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ({}, {}),
        (
            {"delete_robots_noindex": True, "skip_notmodified": True},
            {"http://k.test/": "skip_noindex", "http://l.test/": "skip_not_modified"},
        ),
    ],
)
def test_verdicts(
    paper: PaperCrawl,
    context: Callable[..., StepContext],
    settings: dict[str, Any],
    changed: dict[str, str],
) -> None:
    """Each page gets the first verdict that holds, and is counted under it.

    Nothing is deleted from an index that has none of them.
    """
    segment = paper.segment({url: said for url, (said, _, _) in DEFAULT_VERDICTS.items()})
    pages = {url: status for url, (_, status, _) in DEFAULT_VERDICTS.items()}
    paper.crawldb(pages, absorbs=[segment])
    result = index.run(context(**settings), IndexOptions())
    wanted = {url: verdict for url, (_, _, verdict) in DEFAULT_VERDICTS.items()} | changed
    assert counted(result) == dict(Counter(wanted.values()))
    assert opened(paper).urls() == [url for url, one in wanted.items() if one == "indexed"]


def test_filters_of_urls(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """With `index.filter` a page that the URL filters refuse is not indexed, and counted."""
    segment = paper.segment({"http://oak.test/a.gif": {"text": "x"}})
    paper.crawldb({"http://oak.test/a.gif": FETCHED}, absorbs=[segment])
    result = index.run(context(filter=True), IndexOptions())
    assert counted(result) == {"skip_url_filter": 1}


def test_index_is_made_true(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """A page that a later round found gone or a duplicate leaves the index, without a segment."""
    segment = paper.segment({OAK: {"text": "x"}, HAZEL: {"text": "x"}, OLD: {"text": "y"}})
    pages = dict.fromkeys((OAK, HAZEL, OLD), FETCHED)
    paper.crawldb(pages, absorbs=[segment])
    index.run(context(), IndexOptions())
    paper.crawldb({**pages, HAZEL: PageStatus.DB_DUPLICATE, OLD: PageStatus.DB_GONE})
    result = index.run(context(), IndexOptions())
    got = (counted(result), opened(paper).urls())
    assert got == ({"delete_duplicate": 1, "delete_gone": 1}, [OAK])


def test_rollback_makes_the_index_anew(
    paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """When the crawldb no longer knows a segment, the index forgets its pages as well."""
    first = paper.segment({OAK: {"text": "one"}})
    version = paper.crawldb({OAK: FETCHED}, absorbs=[first])
    second = paper.segment({OAK: {"text": "two"}, HAZEL: {"text": "two"}})
    paper.crawldb({OAK: FETCHED, HAZEL: FETCHED}, absorbs=[second])
    index.run(context(), IndexOptions())
    paper.folder.table("crawldb").restore(version)
    result = index.run(context(), IndexOptions())
    document = opened(paper).document(OAK)
    got = (opened(paper).urls(), document and document["content"], "made anew" in result.message)
    assert got == ([OAK], ["one"], True)


def test_rollback_keeps_what_cannot_be_made_again(
    paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """Documents of vacuumed segments outlive a rollback; those that were undone do not."""
    first = paper.segment({OLD: {"text": "old"}})
    second = paper.segment({OAK: {"text": "one"}})
    version = paper.crawldb({OLD: FETCHED, OAK: FETCHED}, absorbs=[first, second])
    third = paper.segment({OAK: {"text": "two"}, HAZEL: {"text": "two"}})
    paper.crawldb(dict.fromkeys((OLD, OAK, HAZEL), FETCHED), absorbs=[third])
    index.run(context(), IndexOptions())
    shutil.rmtree(first.path)
    paper.folder.table("crawldb").restore(version)
    result = index.run(context(), IndexOptions())
    document = opened(paper).document(OAK)
    got = (sorted(opened(paper).urls()), document and document["content"], counted(result))
    again = index.run(context(), IndexOptions())
    assert got == ([OAK, OLD], ["one"], {"indexed": 1, "delete_undone": 1})
    assert again.nothing_to_do


def test_rebuild(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """A rebuild gives what the kept segments say, whatever was in the index."""
    segment = paper.segment({OAK: {"text": "acorns"}})
    paper.crawldb({OAK: FETCHED}, absorbs=[segment])
    index.run(context(), IndexOptions())
    result = index.run(context(max_content_length=3), IndexOptions(rebuild=True))
    document = opened(paper).document(OAK)
    assert (counted(result), document and document["content"]) == ({"indexed": 1}, ["aco"])


def test_rebuild_of_an_index_that_cannot_be_read(
    paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """What a damaged index tells its owner to do works."""
    segment = paper.segment({OAK: {"text": "acorns"}})
    paper.crawldb({OAK: FETCHED}, absorbs=[segment])
    index.run(context(), IndexOptions())
    (paper.folder.path / "index" / "meta.json").write_text("damaged")
    with pytest.raises(DataError, match="is damaged") as caught:
        index.run(context(), IndexOptions())
    assert "--rebuild" in caught.value.hint
    assert counted(index.run(context(), IndexOptions(rebuild=True))) == {"indexed": 1}


def test_rebuild_never_loses_documents(
    paper: PaperCrawl, context: Callable[..., StepContext]
) -> None:
    """Documents that no segment is left for are not thrown away: the rebuild is refused."""
    segment = paper.segment({OAK: {"text": "acorns"}})
    paper.crawldb({OAK: FETCHED}, absorbs=[segment])
    index.run(context(), IndexOptions())
    shutil.rmtree(segment.path)
    with pytest.raises(UserError, match="it would lose them"):
        index.run(context(), IndexOptions(rebuild=True))
    assert opened(paper).urls() == [OAK]


def test_segments_must_be_absorbed(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """A segment that updatedb has not seen is refused with what to run."""
    segment = paper.segment({OAK: {"text": "acorns"}})
    paper.crawldb({OAK: FETCHED})
    with pytest.raises(UserError, match="has not absorbed segment"):
        index.run(context(), IndexOptions(segments=(segment.name,)))


def test_broken_filter_is_counted(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """A document that a stranger's plugin breaks on is counted by its name; the others go on."""
    plugin = paper.folder.path / "my_filter.py"
    plugin.write_text(
        "class Broken:\n"
        "    name = 'broken'\n"
        "    @classmethod\n"
        "    def from_settings(cls, settings, folder):\n"
        "        return cls()\n"
        "    def filter(self, document, page):\n"
        "        return document if page.title else 1 / 0\n"
        "PLUGINS = {'index_filters': [Broken]}\n"
    )
    segment = paper.segment({OAK: {"text": "x", "title": "Oak"}, HAZEL: {"text": "y"}})
    paper.crawldb({OAK: FETCHED, HAZEL: FETCHED}, absorbs=[segment])
    made = context(filters=("basic", "broken"))
    settings = made.settings.model_copy(
        update={"plugins": made.settings.plugins.model_copy(update={"files": (str(plugin),)})}
    )
    step = StepContext(
        crawl=made.crawl,
        settings=settings,
        engine=made.engine,
        plugins=PluginRepository(settings, paper.folder.path),
        clock=made.clock,
    )
    result = index.run(step, IndexOptions())
    assert counted(result) == {"indexed": 1, "skip_error_in_broken": 1}


def test_clean(paper: PaperCrawl, context: Callable[..., StepContext]) -> None:
    """`clean` deletes gone, duplicate and unknown pages, once."""
    segment = paper.segment({OAK: {"text": "x"}, HAZEL: {"text": "x"}, OLD: {"text": "y"}})
    paper.crawldb(dict.fromkeys((OAK, HAZEL, OLD), FETCHED), absorbs=[segment])
    index.run(context(), IndexOptions())
    paper.crawldb({OAK: FETCHED, HAZEL: PageStatus.DB_GONE})
    first = clean.run(context(), CleanOptions())
    second = clean.run(context(), CleanOptions())
    got = (counted(first), second.nothing_to_do, opened(paper).urls())
    assert got == ({"delete_gone": 1, "delete_unknown": 1}, True, [OAK])
