"""What a running fetch tells Prometheus, on a port of its own.

Guarantee: costs nothing until somebody asks: each answer is made from the files in which the parts
say once a second how they are going. Labels are names out of the code (statuses, reasons), never
hosts or URLs, so that their number is bounded.
Source: Prometheus' conventions for names and units; docs/how-to/watch-a-fetch.md lists them.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from filbert.errors import UserError
from filbert.fetcher.progress import read_progress
from filbert.rules.latency import buckets_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.settings.fetcher import FetcherSettings

__all__ = ["FetchMetrics", "serving_metrics"]

_LABELLED = {
    "fetch_": ("filbert_fetch_urls", "URLs of the fetch list by fetch status.", "status"),
    "error.": ("filbert_fetch_errors", "Failed fetches by reason.", "reason"),
    "left_due.": ("filbert_fetch_left_due", "URLs left to a later round by reason.", "reason"),
    "redirect.": ("filbert_fetch_redirects", "Redirects by what became of the target.", "verdict"),
    "robots.": ("filbert_fetch_robots_txt", "Answers to robots.txt by meaning.", "meaning"),
}
_GAUGES = {
    "listed": ("filbert_fetch_listed_urls", "URLs of the fetch list."),
    "ended": ("filbert_fetch_ended_urls", "URLs that are done, those of earlier calls included."),
    "in_flight": ("filbert_fetch_requests_in_flight", "Requests on their way."),
    "queued": ("filbert_fetch_queued_urls", "URLs held by queues."),
    "queue_count": ("filbert_fetch_queues", "Queues that hold a URL or have a request in flight."),
}


@contextmanager
def serving_metrics(settings: FetcherSettings, journal_dir: Path) -> Iterator[None]:
    """Answer Prometheus inside the block, if the settings name a port.

    Raises:
        UserError: The extra is not installed, or the port cannot be had.
    """
    if not settings.metrics_port:
        yield
        return
    try:
        from prometheus_client import CollectorRegistry, start_http_server
    except ImportError as error:
        raise UserError(
            "fetcher.metrics_port is set, and prometheus-client is not installed",
            hint="pip install 'filbert[metrics]', or leave the port out",
        ) from error
    registry = CollectorRegistry()
    registry.register(FetchMetrics(journal_dir))
    host, port = settings.metrics_host, settings.metrics_port
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise UserError(
            f"fetcher.metrics_port: {host}:{port} cannot be had: {error.strerror}",
            hint="choose another port, or 0 for none",
        ) from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class FetchMetrics:
    """A collector for Prometheus.

    Args:
        journal_dir: Where the parts say how they are going.
    """

    def __init__(self, journal_dir: Path) -> None:
        self._journal_dir = journal_dir

    def describe(self) -> list[Any]:
        """Return nothing: what there is depends on the fetch."""
        return []

    def collect(self) -> Iterator[Any]:
        """Yield the metrics of this moment, summed over the parts."""
        from prometheus_client.core import (
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        parts = read_progress(self._journal_dir)
        counters: Counter[str] = Counter()
        for part in parts:
            counters.update(part.counters)
        for field, (name, words) in _GAUGES.items():
            yield GaugeMetricFamily(name, words, sum(getattr(part, field) for part in parts))
        pages = sum(part.pages for part in parts)
        yield CounterMetricFamily(
            "filbert_fetch_pages", "Answers, hops of redirects included.", pages
        )
        yield CounterMetricFamily(
            "filbert_fetch_received_bytes", "Bytes of bodies, as they came.", counters["bytes"]
        )
        for prefix, (name, words, label) in _LABELLED.items():
            family = CounterMetricFamily(name, words, labels=[label])
            for counter, count in sorted(counters.items()):
                value = counter.removeprefix(prefix)
                if counter.startswith(prefix) and value != "requests":
                    family.add_metric([value], count)
            yield family
        yield _response_times(counters, HistogramMetricFamily)


def _response_times(counters: Counter[str], family: Any) -> Any:
    """Return the response times as a histogram, in seconds; the sum is of upper bounds."""
    sofar, total, buckets = 0, 0.0, []
    for bound, count in buckets_of(counters):
        sofar += count
        total += bound / 1000 * count
        buckets.append((str(bound / 1000), sofar))
    times = family("filbert_fetch_response_seconds", "From request to last byte.")
    times.add_metric([], [*buckets, ("+Inf", sofar)], sum_value=total)
    return times
