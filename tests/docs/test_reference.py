"""The pages made from the code are those that the code would make today."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGES = ("settings.md", "commands.md", "plugins.md", "statuses.md", "tables.md")


@pytest.fixture(scope="session")
def pages(repository: Path) -> dict[str, Callable[[], str]]:
    """What `make docs` would write."""
    spec = importlib.util.spec_from_file_location(
        "make_reference", repository / "docs" / "make_reference.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, Callable[[], str]] = module.PAGES
    return found


def test_every_page_is_listed(pages: dict[str, Callable[[], str]]) -> None:
    """A new page is checked, too."""
    assert tuple(pages) == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_fresh(name: str, pages: dict[str, Callable[[], str]], repository: Path) -> None:
    """`make docs` would change nothing."""
    written = (repository / "docs" / "reference" / name).read_text(encoding="utf-8")

    assert written == pages[name](), "run `make docs`"
