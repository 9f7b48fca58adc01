"""generate agrees with Nutch's Generator, and the runner notices when it does not."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from filbert.settings.generate import GenerateSettings
from filbert.testing.parity.__main__ import main
from filbert.testing.parity.generator import run
from filbert.testing.parity.generator_replay import Tied, can_be_replayed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def golden(repository: Path) -> Path:
    """The recorded cases."""
    return repository / "tests/data/golden/generator-cases.jsonl.gz"


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_no_case_differs(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All recorded cases, through the step itself."""
    assert main(["generator", str(golden)]) == 0
    assert capsys.readouterr().out == "agree 30, differ 0, by decision 0\n"


@pytest.mark.parametrize(
    ("change", "agree", "differ"),
    [
        (lambda case: None, 1, 0),
        (lambda case: case["segments"][0].pop(), 0, 1),
        (lambda case: case["options"].update({"generate.min.score": 0.3}), 0, 1),
    ],
)
def test_a_difference_is_noticed(
    golden: Path,
    tmp_path: Path,
    change: Callable[[dict[str, Any]], object],
    agree: int,
    differ: int,
) -> None:
    """One row less, or another setting, and the case differs."""
    path = tmp_path / "cases.jsonl.gz"
    with gzip.open(golden, "rt") as lines:
        crawldb, case = (json.loads(next(lines)) for _ in range(2))
    change(case)
    with gzip.open(path, "wt") as out:
        out.writelines(json.dumps(entry) + "\n" for entry in (crawldb, case))
    report = run(path)

    assert (report.agree, len(report.differences)) == (agree, differ)


@pytest.mark.parametrize(
    ("segments", "wanted"),
    [
        ([{1, 3}], True),
        ([{2, 3}], True),
        ([{1, 2}], False),  # two of one key, over the cap
        ([{4, 3}], False),  # a worse score before a better one
        ([{1}], False),  # there is room for one more
        ([{1, 9}], False),  # not to be chosen at all
    ],
)
def test_replay(segments: list[set[int]], *, wanted: bool) -> None:
    """Of equal scores any may come first, but the rule holds."""
    rows = [(1, "a", 2.0), (2, "a", 2.0), (3, "b", 2.0), (4, "c", 1.0)]
    eligible = [Tied(number=number, key=key, score=score) for number, key, score in rows]
    settings = GenerateSettings(top_n=2, max_count=1)

    assert can_be_replayed(eligible, [frozenset(s) for s in segments], settings) == wanted
