"""Events as JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from filbert.model.records import FetchEvent
from filbert.plugins.publishers.jsonl import JsonlPublisher
from filbert.settings import Settings
from filbert.settings.publish import PublishSettings

if TYPE_CHECKING:
    from pathlib import Path


def test_two_parts_share_a_file(tmp_path: Path) -> None:
    """Lines are appended, each whole; the file lies in the crawl folder unless the settings say."""
    with (
        JsonlPublisher.from_settings(Settings(), tmp_path) as one,
        JsonlPublisher.from_settings(Settings(), tmp_path) as two,
    ):
        one.publish(FetchEvent(kind="start", url="http://a/", time=1))
        two.publish(
            FetchEvent(kind="end", url="http://b/", time=2, facts={"status": "x", "b": b"y"})
        )
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"event": "start", "url": "http://a/", "time": 1},
        {"event": "end", "url": "http://b/", "time": 2, "status": "x", "b": "b'y'"},
    ]
    elsewhere = Settings(publish=PublishSettings(jsonl_file=str(tmp_path / "e")))
    with JsonlPublisher.from_settings(elsewhere, tmp_path):
        pass
    assert (tmp_path / "e").read_text() == ""
