"""Log lines: where they go and how they look."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import structlog

from filbert.cli.logs import set_up_logs

if TYPE_CHECKING:
    from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _structlog_as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_json_lines_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """A machine reads one JSON object per line, on stderr alone."""
    set_up_logs("info", "json")
    structlog.get_logger().info("fetch.started", part=3)
    structlog.get_logger().debug("not.shown")

    out, err = capsys.readouterr()
    got = json.loads(err)
    assert out == ""
    assert (got["event"], got["part"], got["level"]) == ("fetch.started", 3, "info")


def test_plain_lines_have_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    """A file or a pipe gets plain text."""
    set_up_logs("info", "auto")
    structlog.get_logger().warning("fetch.slow", host="a.example")

    got = capsys.readouterr().err
    assert "fetch.slow" in got
    assert "host=a.example" in got
    assert "\x1b" not in got
