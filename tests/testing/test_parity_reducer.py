"""updatedb agrees with Nutch's CrawlDbReducer, and the runner notices when it does not."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from filbert.testing.parity.__main__ import main
from filbert.testing.parity.reducer import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def golden(repository: Path) -> Path:
    """The recorded cases."""
    return repository / "tests/data/golden/reducer-cases.jsonl.gz"


@pytest.fixture
def some(golden: Path, tmp_path: Path) -> Callable[..., Path]:
    """Writes the first cases of one configuration, each changed by a function."""

    def write(change: Callable[[dict[str, Any]], None], count: int = 40) -> Path:
        path = tmp_path / "cases.jsonl.gz"
        with gzip.open(golden, "rt") as lines, gzip.open(path, "wt") as out:
            for line in list(lines)[:count]:
                case = json.loads(line)
                change(case)
                out.write(json.dumps(case) + "\n")
        return path

    return write


@pytest.mark.slow
def test_no_case_differs(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All recorded cases agree, but for those that a decision explains."""
    assert main(["reducer", str(golden)]) == 0
    assert capsys.readouterr().out == (
        "agree 1849, differ 0, by decision 151 (best-inlinks 150, retries-grow 1)\n"
    )


@pytest.mark.slow
def test_a_wrong_expectation_is_a_difference(
    some: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A case that says something else than we do differs, and the exit code is 1."""

    def spoil(case: dict[str, Any]) -> None:
        if case["id"] == 0:
            case["result"]["interval"] += 1

    assert main(["reducer", str(some(spoil))]) == 1
    shown = capsys.readouterr().out
    assert "case 0: interval\n" in shown
    assert "agree 39, differ 1, by decision 0" in shown


@pytest.mark.slow
def test_a_decision_needs_its_predicate(some: Callable[..., Path]) -> None:
    """A wrong score is no decision while the page has no more links than count."""

    def spoil(case: dict[str, Any]) -> None:
        if case["result"] is not None:
            case["result"]["score"] += 1.0

    report = run(some(spoil))
    assert report.by_decision == {}
    assert {difference.what for difference in report.differences} == {"score"}
