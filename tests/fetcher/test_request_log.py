"""A line for each request: part, queue, URL and what came."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from filbert.fetcher.request_log import RequestLog
from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus

if TYPE_CHECKING:
    import pytest

NOW = 1_796_000_000_000
URL = "http://a.test/x y"
GOOD = ProtocolOutput(status=ProtocolStatus.SUCCESS, http_status=200)
BAD = ProtocolOutput(status=ProtocolStatus.EXCEPTION, message="timeout: nothing came")


def test_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line stands alone: what has blanks or control characters is quoted."""
    log = RequestLog(3, as_json=False)
    log.say("a.test", URL, GOOD, NOW)
    log.say("a.test", "http://a.test/\x1b", BAD, NOW)
    assert capsys.readouterr().err.splitlines() == [
        (
            '00:53:20 [info     ] fetch.request part=3 queue=a.test url="http://a.test/x y"'
            ' came="HTTP 200"'
        ),
        (
            '00:53:20 [info     ] fetch.request part=3 queue=a.test url="http://a.test/\\u001b"'
            ' came="timeout: nothing came"'
        ),
    ]


def test_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """The same as the other JSON lines of the log: event, level, timestamp, and the values."""
    RequestLog(0, as_json=True).say("a.test", URL, GOOD, NOW)
    assert json.loads(capsys.readouterr().err) == {
        "event": "fetch.request",
        "level": "info",
        "timestamp": "2026-11-30T00:53:20.000Z",
        "part": 0,
        "queue": "a.test",
        "url": URL,
        "came": "HTTP 200",
    }
