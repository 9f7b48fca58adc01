"""Fixtures for the whole suite."""

from __future__ import annotations

from pathlib import Path

import pytest

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
