"""What a running fetch tells Prometheus: asked for real, read by the library's own parser."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from filbert.errors import UserError
from filbert.fetcher.progress import PartProgress, write_progress
from filbert.settings.fetcher import FetcherSettings
from filbert.steps.fetch_metrics import serving_metrics
from filbert.testing.daemons import free_port

if TYPE_CHECKING:
    from pathlib import Path


def part(number: int, **counters: int) -> PartProgress:
    """Return how a part is going."""
    counted = {name.replace("__", "."): count for name, count in counters.items()}
    return PartProgress(
        part=number, now=2_000, started=1_000, listed=100, ended=40, pages=38, pages_per_s=2.0,
        in_flight=3, queued=50, queue_count=7, counters=counted,
    )  # fmt: skip


def scraped(port: int) -> dict[tuple[str, str], float]:
    """Return what the port says: (name, label or bucket) to value."""
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    return {
        (sample.name, ",".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_parts_are_summed(tmp_path: Path) -> None:
    """Counters by their names, gauges, and response times as a histogram in seconds."""
    write_progress(tmp_path, part(0, fetch_success=30, error__http_503=2, latency__100=20))
    write_progress(tmp_path, part(1, fetch_success=5, latency__100=1, latency__1000=4, bytes=900))
    port = free_port()
    with serving_metrics(FetcherSettings(metrics_port=port), tmp_path):
        got = scraped(port)
    assert got["filbert_fetch_urls_total", "success"] == 35
    assert got["filbert_fetch_errors_total", "http_503"] == 2
    assert got["filbert_fetch_listed_urls", ""] == 200
    assert got["filbert_fetch_received_bytes_total", ""] == 900
    assert got["filbert_fetch_response_seconds_bucket", "0.1"] == 21
    assert got["filbert_fetch_response_seconds_bucket", "+Inf"] == 25
    assert got["filbert_fetch_response_seconds_count", ""] == 25


def test_before_a_part_has_said_anything(tmp_path: Path) -> None:
    """Zeros, and no error."""
    port = free_port()
    with serving_metrics(FetcherSettings(metrics_port=port), tmp_path):
        assert scraped(port)["filbert_fetch_pages_total", ""] == 0


def test_the_port_is_free_again(tmp_path: Path) -> None:
    """When the fetch ends, so does the answering; without a port there is none."""
    port = free_port()
    with serving_metrics(FetcherSettings(metrics_port=port), tmp_path):
        pass
    with socket.create_server(("127.0.0.1", port)), serving_metrics(FetcherSettings(), tmp_path):
        pass


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    """Before anything is fetched, with the setting's name."""
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(UserError, match=r"fetcher\.metrics_port"),
        serving_metrics(FetcherSettings(metrics_port=taken.getsockname()[1]), tmp_path),
    ):
        pass
