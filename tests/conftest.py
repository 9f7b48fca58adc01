"""Fixtures for the whole suite."""

from __future__ import annotations

from pathlib import Path

import pytest

LONG = {"slow": 120, "spark": 300, "journey": 600, "browser": 120, "speed": 600}
"""Seconds that a marked test may take, unless it says so itself; all others: pyproject.toml."""

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_dir(repository: Path) -> Path:
    """The folder of golden data beside the source tree; tests of it skip aloud without it."""
    path = repository.parent / "shared"
    if not path.is_dir():
        pytest.skip(f"no golden data: {path.name}/ does not lie beside the source tree")
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give marked tests their longer time limit."""
    for item in items:
        if item.get_closest_marker("timeout") is None:
            limits = [seconds for mark, seconds in LONG.items() if item.get_closest_marker(mark)]
            if limits:
                item.add_marker(pytest.mark.timeout(max(limits)))
