"""Opening a crawl folder for a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import PluginError, UserError
from filbert.steps.context import open_context
from filbert.store.crawl import CrawlFolder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_made_for_wrong_use_is_not_left_behind(tmp_path: Path) -> None:
    """A step that refuses before it commits leaves no crawl folder, and what lay there stays."""
    crawl, before, bare = (tmp_path / name for name in ("crawl", "with-settings", "bare"))
    before.mkdir()
    bare.mkdir()
    (before / "filbert.toml").write_text("[fetcher]\nthreads = 2\n", encoding="utf-8")
    for folder in (crawl, before, bare):
        with pytest.raises(UserError), open_context(folder, (), {}, create=True):
            raise UserError("wrong")
    assert not crawl.exists()
    assert list(bare.iterdir()) == []
    assert [path.name for path in before.iterdir()] == ["filbert.toml"]


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    """Wrong use of a crawl folder that exists takes nothing away."""
    with open_context(tmp_path / "crawl", (), {}, create=True):
        pass
    with pytest.raises(UserError), open_context(tmp_path / "crawl", (), {}, create=True):
        raise UserError("wrong")
    assert CrawlFolder.exists(tmp_path / "crawl")


def test_an_unknown_plugin_refuses_before_a_folder_is_made(tmp_path: Path) -> None:
    """A plugin name is checked when the settings are, whatever the step would need."""
    with (
        pytest.raises(PluginError, match="Did you mean 'regex'"),
        open_context(tmp_path / "crawl", ["urls.filters=regexx"], {}, create=True),
    ):
        pass
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    "setting", ["http.deny_addresses=999.1.1.1", "http.resolve=foo", "parse.parsers=,,"]
)
def test_settings_that_cannot_work_refuse_before_a_folder_is_made(
    setting: str, tmp_path: Path
) -> None:
    """A step that would meet them only later does not begin."""
    with pytest.raises(UserError), open_context(tmp_path / "crawl", [setting], {}, create=True):
        pass
    assert not (tmp_path / "crawl").exists()
