"""Who links to a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.reports.readlinkdb import dump_links, inlinks

if TYPE_CHECKING:
    from conftest import Grove  # type: ignore[import-not-found]
    from filbert.settings.engine import EngineSettings

OAK, ELM = "http://oak.test/", "http://elm.test/"


def test_inlinks_of_one(grove: Grove, engine: EngineSettings) -> None:
    """Source, anchor, metadata; nothing for a page that nobody links to."""
    assert inlinks(grove.folder, ELM, engine) == [
        {"from_url": OAK, "anchor": "elm", "metadata": None}
    ]
    assert inlinks(grove.folder, OAK, engine) == []


def test_dump_by_pattern(grove: Grove, engine: EngineSettings) -> None:
    """The pattern is matched (in Nutch it was never read)."""
    grove.paper.rows("linkdb", [{"url": OAK, "from_url": ELM, "anchor": ""}])
    with dump_links(grove.folder, engine) as answer:
        assert [row["url"] for row in answer.rows] == [ELM, OAK]
    with dump_links(grove.folder, engine, regex=r".*oak\.test/") as answer:
        assert [row["url"] for row in answer.rows] == [OAK]
