"""What a crawl folder was imported from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import DataError
from filbert.store.imports import Imports

if TYPE_CHECKING:
    from pathlib import Path


def test_an_import_is_open_until_it_ends(tmp_path: Path) -> None:
    """Parts keep their sources; the next import adds to them."""
    imports = Imports(tmp_path / "imports.json")
    assert (imports.unfinished(), imports.source_of("crawldb")) == ("", "")
    imports.begin("/a", ("crawldb", "linkdb"))
    assert imports.unfinished() == "/a"
    imports.finish()
    imports.begin("/b", ("segments/20260101000000",))
    assert (imports.unfinished(), imports.source_of("crawldb")) == ("/b", "/a")
    imports.forget()
    assert imports.unfinished() == ""


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"sources": 1, "unfinished": ""}'])
def test_a_damaged_note_is_told(tmp_path: Path, text: str) -> None:
    """It names the file, and what it was for."""
    path = tmp_path / "imports.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"imports\.json is damaged"):
        Imports(path).unfinished()
