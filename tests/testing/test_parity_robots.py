"""We read robots.txt as Nutch does, but for named differences; the runner notices others."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from filbert.testing.parity.__main__ import main
from filbert.testing.parity.robots import DECISIONS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_no_case_differs(shared_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdicts, delays, sitemaps, requests are those of Nutch 1.22; differences have a reason."""
    assert main(["functions", str(shared_dir / "golden/functions/robots.jsonl.gz")]) == 0
    assert capsys.readouterr().out == (
        "robots: agree 1147, differ 0, by decision 39 (agent-blanks 8, bare-sitemap 8,"
        " every-success 2, longest-delay 4, star-and-more 4, stray-characters 8, unreachable 5)\n"
    )


def test_each_difference_is_a_row_of_from_nutch(repository: Path) -> None:
    """A decision has a name there and a reason."""
    page = (repository / "docs/from-nutch.md").read_text(encoding="utf-8")
    assert [name for name in DECISIONS if f"(`{name}`)" not in page] == []


def test_another_answer_is_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A verdict that no decision explains is printed, and the exit code is 1."""
    result = {"allowed": [True], "crawl_delay": -(2**63), "sitemaps": [], "defer_visits": False}
    case = {
        "kind": "synthetic",
        "url": "https://a.example/robots.txt",
        "content": "User-agent: *\nDisallow: /x",
        "confs": [{"http.agent.name": "mybot"}],
        "urls": ["https://a.example/x"],
        "result": [result],
    }
    path = tmp_path / "robots.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(case).encode()))
    assert main(["functions", str(path)]) == 1
    assert "differ 1" in capsys.readouterr().out


def test_a_table_without_a_runner_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error says for which tables there are runners."""
    with pytest.raises(SystemExit, match="2"):
        main(["functions", str(tmp_path / "mime.jsonl.gz")])
    assert "no runner for mime" in capsys.readouterr().err
