"""Where the data of the real programs lie."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
def nutch1() -> Path:
    """Files that Nutch 1.22 wrote."""
    return DATA / "nutch1"


@pytest.fixture
def nutch07() -> Path:
    """Files that Nutch 0.7.2 and its forerunner wrote."""
    return DATA / "nutch07"
