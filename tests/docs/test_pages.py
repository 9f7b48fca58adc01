"""The documents hold together: links lead somewhere, lists are whole."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from filbert.settings.catalog import catalog

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def _pages(repository: Path) -> list[Path]:
    return [
        *repository.glob("*.md"),
        *(repository / "docs").rglob("*.md"),
        *(repository / "changes").glob("*.md"),
    ]


def test_links_between_pages_lead_somewhere(repository: Path) -> None:
    """A relative link names a file that is there."""
    broken = [
        f"{page.relative_to(repository)}: {target}"
        for page in _pages(repository)
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_every_decision_is_listed(repository: Path) -> None:
    """The list of decisions names each file, in order, with what each of them must say."""
    folder = repository / "docs" / "decisions"
    files = sorted(path.name for path in folder.glob("0*.md"))
    listed = LINK.findall((folder / "README.md").read_text(encoding="utf-8"))
    parts = ("**Context.**", "**Decision.**", "**What we give up.**", "**How we would know")
    incomplete = [
        name
        for name in files
        if not all(part in (folder / name).read_text(encoding="utf-8") for part in parts)
    ]

    assert listed == files
    assert incomplete == []


def test_every_dependency_has_its_line(repository: Path) -> None:
    """The decision on dependencies names exactly those of pyproject.toml."""
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for group in project["optional-dependencies"].values() for one in group]
    declared = {re.split(r"[<>=\[ ]", one)[0] for one in [*project["dependencies"], *extras]}
    page = (repository / "docs" / "decisions" / "0010-dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z0-9-]+) \|", page, re.MULTILINE)

    assert set(rows) - {"dependency"} == declared


@pytest.mark.parametrize("page", ["README.md", "docs/from-nutch.md", "CONTRIBUTING.md"])
def test_settings_named_in_prose_exist(page: str, repository: Path) -> None:
    """A page does not name a setting that is gone."""
    sections = {name.split(".")[0] for name in catalog()}
    text = (repository / page).read_text(encoding="utf-8")
    named = re.findall(r"`([a-z]+\.[a-z0-9]+(?:_[a-z0-9]+)+)`", text)
    unknown = [name for name in named if name.split(".")[0] in sections and name not in catalog()]

    assert unknown == []


def test_every_setting_is_described() -> None:
    """Each setting says in a sentence what it is."""
    assert [
        name for name, one in catalog().items() if not one.description.endswith((".", ".)"))
    ] == []
