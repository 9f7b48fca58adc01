"""Invertlinks: from parsed segments to the linkdb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filbert.engine.local import LocalEngine
from filbert.errors import UserError
from filbert.model.statuses import FetchStatus, ParseMajor
from filbert.plugins.registry import PluginRepository
from filbert.rules.urls import url_hash
from filbert.settings import Settings
from filbert.settings.engine import EngineSettings
from filbert.settings.links import LinksSettings
from filbert.settings.urls import UrlsSettings
from filbert.steps.context import StepContext
from filbert.steps.invert import InvertOptions, run
from filbert.store.crawl import CrawlFolder
from filbert.store.parquet import read_rows
from filbert.testing.paper_crawl import PaperCrawl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.steps.context import StepResult
    from filbert.store.segments import Segment

A, B, C, D = "http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/"
Link = tuple[str, str, str]


class Scene:
    """A crawl folder on paper with a linkdb of four buckets, and the step on it."""

    def __init__(self, path: Path, engine: LocalEngine) -> None:
        self.paper = PaperCrawl(path / "crawl")
        self.paper.folder = CrawlFolder.create(path / "four", clock=self.paper.clock, buckets=4)
        self.settings = Settings()
        self._engine = engine

    def segment(self, *links: Link, pages: tuple[str, ...] = ()) -> Segment:
        """Make a parsed segment of links (from, to, anchor) and of pages without links."""
        fetched: dict[str, dict[str, Any]] = {url: {"text": url} for url in pages}
        fetched |= {source: {"text": source} for source, _, _ in links}
        return self.paper.segment(fetched, links=[link(*one) for one in links])

    def invert(self, *segments: Segment, **links: Any) -> StepResult:
        """Run the step with settings of its section."""
        settings = self.settings.model_copy(update={"links": LinksSettings(**links)})
        context = StepContext(
            crawl=self.paper.folder,
            settings=settings,
            engine=self._engine,
            plugins=PluginRepository(settings, self.paper.folder.path),
            clock=self.paper.clock,
        )
        return run(context, InvertOptions(segments=tuple(s.name for s in segments)))

    def links(self) -> set[Link]:
        """The linkdb, as (from, to, anchor)."""
        table = self.paper.folder.table("linkdb")
        rows = list(read_rows(table.files(), table.schema.names))
        assert all(row["bucket"] == url_hash(row["url"]) % 4 for row in rows)
        found = [(row["from_url"], row["url"], row["anchor"]) for row in rows]
        assert len(set(found)) == len(found)
        return set(found)


def link(source: str, target: str, anchor: str, **said: Any) -> dict[str, Any]:
    """A row of crawl_parse."""
    plain = {"kind": "outlink", "to_db": True, "to_linkdb": True, "anchor": anchor}
    return {"url": target, "from_url": source, **plain, **said}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """An empty crawl folder."""
    with LocalEngine(EngineSettings(processes=1, threads=1), tmp_path / "spill") as engine:
        yield Scene(tmp_path, engine)


def test_links_are_turned_round(scene: Scene) -> None:
    """Each distinct (from, to, anchor) once; rows that are not for the linkdb are left."""
    scene.segment((A, B, "b"), (A, B, "b"), (A, B, "other"), (B, C, ""), (C, B, "b"))
    result = scene.invert()

    assert scene.links() == {(A, B, "b"), (A, B, "other"), (B, C, ""), (C, B, "b")}
    assert not result.nothing_to_do


def test_rows_that_are_not_links_stay_out(scene: Scene) -> None:
    """`to_linkdb` says which count."""
    rows = [link(A, B, "x", to_linkdb=False), link(A, C, "y")]
    scene.paper.segment({A: {"text": "a"}}, links=rows)
    scene.invert()

    assert scene.links() == {(A, C, "y")}


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, {C}),
        ({"ignore_internal": False}, {f"{A}2", C}),
        ({"ignore_internal": False, "ignore_external": True}, {f"{A}2"}),
    ],
)
def test_internal_and_external_links(
    scene: Scene, settings: dict[str, bool], wanted: set[str]
) -> None:
    """Links within a host do not count by default."""
    scene.segment((A, f"{A}2", ""), (A, C, ""))
    scene.invert(**settings)

    assert {target for _, target, _ in scene.links()} == wanted


@pytest.mark.parametrize(
    ("source", "target", "internal"),
    [
        ("http://a.org:81/x", "http://a.org/", True),
        ("http://me@a.org/x", "http://a.org/", True),
        ("http://a.org", "http://a.org/", True),
        ("http://a.org?q", "http://a.org/", True),
        ("http://[::1]:80/", "http://[::1]/", True),
        ("http://a.org.b.org/", "http://a.org/", False),
        ("http://www.a.org/", "http://a.org/", False),
    ],
)
def test_hosts_of_linking_pages(scene: Scene, source: str, target: str, *, internal: bool) -> None:
    """Host against host, whatever port, user or path."""
    scene.segment((source, target, ""))
    scene.invert(filter=False, normalize=False)

    assert scene.links() == (set() if internal else {(source, target, "")})


def test_both_ignored_leaves_nothing(scene: Scene) -> None:
    """That can only be a slip, and is refused."""
    with pytest.raises(UserError, match="no link is left"):
        scene.invert(ignore_external=True)


def test_long_anchors_are_cut(scene: Scene) -> None:
    """Two anchors that are equal once cut are one link."""
    scene.segment((A, B, "abcdef"), (A, B, "abcxyz"))
    scene.invert(max_anchor_length=3)

    assert scene.links() == {(A, B, "abc")}


def test_of_too_many_inlinks_the_same_ones_stay(scene: Scene) -> None:
    """By (from, anchor); whether they come in one segment or in two."""
    sources = [f"http://s{n}.org/" for n in range(6)]
    scene.segment(*((source, A, "x") for source in sources[3:]))
    scene.invert(max_inlinks=4)
    scene.segment(*((source, A, "x") for source in sources[:3]))
    scene.invert(max_inlinks=4)

    assert {source for source, _, _ in scene.links()} == set(sources[:4])


def test_a_segment_is_absorbed_once(scene: Scene) -> None:
    """Again does nothing and says so; a new one is added."""
    first = scene.segment((A, B, "b"))
    scene.invert()
    version = scene.paper.folder.table("linkdb").version()
    assert scene.invert(first).nothing_to_do
    assert scene.paper.folder.table("linkdb").version() == version
    scene.segment((B, C, "c"))
    result = scene.invert()

    assert scene.links() == {(A, B, "b"), (B, C, "c")}
    assert len(result.segments) == 1


def test_a_page_parsed_again_is_known_by_its_newest_links(scene: Scene) -> None:
    """Its old links go, also when it has none now; those of others stay."""
    scene.segment((A, B, "old"), (A, C, "same"), (B, C, "b"), (C, D, "c"))
    scene.invert()
    scene.segment((A, C, "same"), (A, D, "new"), pages=(C,))
    scene.invert()

    assert scene.links() == {(A, C, "same"), (A, D, "new"), (B, C, "b")}


def test_the_order_of_absorbing_says_nothing(scene: Scene) -> None:
    """An older segment that comes late brings only pages that no newer one parsed."""
    old = scene.segment((A, B, "old"), (B, C, "b"))
    new = scene.segment((A, D, "new"))
    scene.invert(new)
    scene.invert(old)

    assert scene.links() == {(A, D, "new"), (B, C, "b")}


def test_several_segments_at_once(scene: Scene) -> None:
    """The newest parse of a page counts, in one commit."""
    scene.segment((A, B, "old"))
    scene.segment((A, C, "new"), (B, D, "b"))
    result = scene.invert()

    assert scene.links() == {(A, C, "new"), (B, D, "b")}
    assert scene.paper.folder.table("linkdb").version() == 1
    assert len(result.segments) == 2


def test_a_failed_fetch_keeps_the_old_links(scene: Scene) -> None:
    """Only a parse that succeeded replaces them."""
    scene.segment((A, B, "old"))
    scene.invert()
    scene.paper.segment(
        {
            A: {"status": FetchStatus.FETCH_GONE},
            C: {"text": "x", "parsed": {"major": ParseMajor.FAILED}},
        }
    )
    scene.invert()

    assert scene.links() == {(A, B, "old")}


def test_a_segment_without_links_is_absorbed_too(scene: Scene) -> None:
    """So that it is not looked at again."""
    scene.segment(pages=(A,))
    assert not scene.invert().nothing_to_do
    assert scene.invert().nothing_to_do


def test_chains_judge_both_ends(scene: Scene) -> None:
    """A rejected end loses the link; the others come in normal form."""
    scene.segment((A, "http://B.org:80/", "b"), (f"{A}x.gif", C, "c"), (A, f"{C}x.gif", "g"))
    scene.invert()

    assert scene.links() == {(A, B, "b")}


def test_a_changed_chain_is_applied_to_all_links(scene: Scene) -> None:
    """Links that are there pass the new chain when the next segment comes."""
    scene.segment((A, B, "b"), (A, C, "c"), (C, B, "d"))
    scene.invert()
    scene.settings = Settings(urls=UrlsSettings(regex_filter_rules="-c\\.org\n+."))
    scene.segment((B, D, "d"))
    scene.invert()

    assert scene.links() == {(A, B, "b"), (B, D, "d")}
