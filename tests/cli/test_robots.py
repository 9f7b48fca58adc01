"""`filbert robots`."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from filbert.cli import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FILE = "User-agent: *\nDisallow: /private\nCrawl-delay: 2\n\nUser-agent: bee\nDisallow: /b\n"


def _file(tmp_path: Path) -> str:
    path = tmp_path / "robots.txt"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def test_a_line_says_sign_url_and_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """+ or -, the URL, and the line of the file that decides."""
    urls = ("http://a.test/private/1", "http://a.test/")
    assert run(["robots", "--file", _file(tmp_path), *urls]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "-http://a.test/private/1\tDisallow: /private (line 2), for *; Crawl-delay 2 s",
        "+http://a.test/\tno rule forbids it, for *; Crawl-delay 2 s",
    ]


def test_for_another_robot_from_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """URLs by lines; JSON for programs."""
    monkeypatch.setattr("sys.stdin", io.StringIO("http://a.test/b/1\n\nhttp://a.test/private\n"))
    assert run(["robots", "--file", _file(tmp_path), "--agent", "Bee", "--format", "jsonl"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["allowed"], one["group"]) for one in said] == [(False, "bee"), (True, "bee")]


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there; a host of others without a name."""
    assert run(["robots", "--file", str(tmp_path / "none"), "http://a.test/"]) == 2
    assert run(["robots", "--crawl-dir", str(tmp_path), "http://a.test/"]) == 2
    assert "http.agent_name is not set" in capsys.readouterr().err
