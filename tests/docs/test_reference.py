"""The pages made from the code are those that the code would make today."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PAGES = ("commands.md", "plugins.md", "settings.md", "statuses.md", "tables.md")


@pytest.fixture(scope="module")
def fresh(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make docs` would write, by a process of its own: click remembers what it has shown."""
    folder = tmp_path_factory.mktemp("reference")
    script = repository / "docs" / "make_reference.py"
    subprocess.run([sys.executable, script, folder], check=True)
    return folder


def test_every_page_is_listed(fresh: Path) -> None:
    """A new page is checked, too."""
    assert tuple(sorted(path.name for path in fresh.iterdir())) == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_fresh(name: str, fresh: Path, repository: Path) -> None:
    """`make docs` would change nothing."""
    written = (repository / "docs" / "reference" / name).read_text(encoding="utf-8")

    assert written == (fresh / name).read_text(encoding="utf-8"), "run `make docs`"
