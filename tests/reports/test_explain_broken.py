"""`explain` where plugins are broken, and of a page that leads to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.model.statuses import FetchStatus, PageStatus
from filbert.reports.explain import explain
from filbert.settings import load_settings
from filbert.testing.paper_crawl import NOW, PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://oak.test/"


@pytest.mark.parametrize("setting", ["plugins=./broken.py", "urls.filters=nosuch"])
def test_a_broken_plugin_does_not_hide_what_is_stored(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the rules say now cannot be told; what happened can."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("import no_such_module\n", encoding="utf-8")
    paper = PaperCrawl(tmp_path / "crawl")
    segment = paper.segment({URL: {"title": "Oak", "text": "An oak.", "http_status": 200}})
    paper.crawldb({URL: PageStatus.DB_FETCHED}, absorbs=[segment])
    settings = load_settings(paper.folder.path, [setting]).settings
    said = {one.kind: one.text for one in explain(paper.folder, settings, URL, NOW + 60_000)}
    assert said["known"].startswith("It is in the crawldb as db_fetched")
    assert said["broken"].startswith("they cannot be asked, and filbert's own were taken")
    assert "fetched" in said
    assert "filter" not in said


def test_a_page_that_leads_to_itself_is_told_once(tmp_path: Path) -> None:
    """The redirect stands with the fetch that met it, not as another page's before it."""
    paper = PaperCrawl(tmp_path / "crawl")
    moved = {
        "status": FetchStatus.FETCH_REDIR_TEMP,
        "redirect_url": URL,
        "redirect_verdict": "self",
    }
    segment = paper.segment({URL: moved})
    paper.crawldb({URL: PageStatus.DB_REDIR_TEMP}, absorbs=[segment])
    settings = load_settings(paper.folder.path).settings
    kinds = [one.kind for one in explain(paper.folder, settings, URL, NOW + 60_000)]
    assert "fetched" in kinds
    assert "redirected" not in kinds


def test_a_refresh_is_told_as_one(tmp_path: Path) -> None:
    """Of the pages that a page names, the one to which it sends browsers on is marked."""
    paper = PaperCrawl(tmp_path / "crawl")
    link = {"url": URL + "next", "from_url": URL, "kind": "refresh", "fetch_time": NOW}
    segment = paper.segment({URL: {"text": "An oak."}}, links=[link])
    paper.crawldb({URL: PageStatus.DB_FETCHED}, absorbs=[segment])
    settings = load_settings(paper.folder.path).settings
    (found,) = (
        one for one in explain(paper.folder, settings, URL, NOW + 60_000) if one.kind == "outlinks"
    )
    assert found.notes == (f"{URL}next (it sends browsers on there)",)
