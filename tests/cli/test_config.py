"""`filbert config`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run

if TYPE_CHECKING:
    from pathlib import Path

_SITE = """<configuration><property><name>fetcher.threads.fetch</name><value>7</value></property>
<property><name>selenium.driver</name><value>firefox</value></property></configuration>"""


def test_show_says_where_a_value_came_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line has the name, the value and its source."""
    (tmp_path / "filbert.toml").write_text("[fetcher]\nthreads = 9\n", encoding="utf-8")

    code = run(["config", "show", str(tmp_path), "--changed", "--format", "jsonl"])

    assert code == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"name": "fetcher.threads", "value": 9, "from": "file: filbert.toml line 2"}
    ]


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ("signature.name=md6", "no plugin 'md6'"),
        ("http.deny_addresses=999.1.1.1", "'999.1.1.1' is no address"),
        ("http.allow_addresses=nowhere", "'nowhere' is no address"),
        ("http.resolve=foo", "'foo' has the wrong form"),
        ("parse.parsers=,,", "names no parser"),
        ("plugins=./nope.py", "nope.py is not there"),
        ("urls.filters=regexx", "no plugin 'regexx'"),
        ("http.agent_rotate=true", "names no agent"),
    ],
)
def test_show_refuses_what_no_step_could_work_with(
    setting: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The settings are shown all the same, so that one sees where the wrong one came from."""
    assert run(["config", "show", "--changed", "-D", setting]) == 2
    told = capsys.readouterr()
    assert f"-D {setting.partition('=')[0]}" in told.out
    assert what in told.err


def test_import_then_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is imported into the crawl folder holds there."""
    site, output = tmp_path / "nutch-site.xml", tmp_path / "crawl" / "filbert.toml"
    site.write_text(_SITE, encoding="utf-8")

    assert run(["config", "import", str(site), "-o", str(output)]) == 0
    assert "1 properties taken over, 1 in comments" in capsys.readouterr().err
    assert run(["config", "show", str(output.parent), "--changed", "--format", "csv"]) == 0

    assert "fetcher.threads,7," in capsys.readouterr().out


def test_import_replaces_nothing_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A settings file that is there stays, unless forced."""
    site, output = tmp_path / "nutch-site.xml", tmp_path / "filbert.toml"
    site.write_text(_SITE, encoding="utf-8")
    output.write_text("# mine\n", encoding="utf-8")

    assert run(["config", "import", str(site), "-o", str(output)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert output.read_text(encoding="utf-8") == "# mine\n"
    assert run(["config", "import", str(site), "-o", str(output), "--force"]) == 0


def test_show_of_a_folder_that_is_not_there_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistyped folder is not taken for one with defaults."""
    assert run(["config", "show", str(tmp_path / "gone"), "--changed"]) == 0

    assert "there is no folder" in capsys.readouterr().err
