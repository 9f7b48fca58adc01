"""Settings of the fetcher: threads, queues, delays, limits.

Source: Nutch's `fetcher.*` properties. "Thread" is Nutch's word for a slot: one request in flight.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from filbert.settings.base import OneLine, Section

__all__ = ["FetcherSettings"]


class FetcherSettings(Section):
    """How a fetch list is worked through."""

    threads: int = Field(
        50,
        ge=1,
        description="Requests in flight at most. Nutch's property says 10, its crawl script 50; "
        "a slot here costs no thread.",
    )
    threads_per_queue: int = Field(
        1, ge=1, description="Requests in flight to one queue. Above 1, `min_delay_s` is the delay."
    )
    queue_mode: Literal["host", "domain", "ip", "host+ip"] = Field(
        "host",
        description="What one queue, and so one delay, is for. `host+ip`: a host, and a request "
        "waits until its address, too, is free and rested (`address_delay_s`).",
    )
    server_delay_s: float = Field(
        5.0,
        ge=0,
        description="Seconds from the end of a request to the start of the next, per queue.",
    )
    address_delay_s: float | None = Field(
        None,
        ge=0,
        description='With `queue_mode = "host+ip"`: seconds between two requests to one address, '
        "whatever its hosts; off: that of the queues.",
    )
    min_delay_s: float = Field(
        0.0, ge=0, description="The same when `threads_per_queue` is above 1."
    )
    min_crawl_delay_s: float | None = Field(
        None, description="Least delay that robots.txt can ask for; off: `server_delay_s`."
    )
    max_crawl_delay_s: float = Field(
        30.0, ge=-1, description="Longest Crawl-delay taken as it stands; -1 no limit."
    )
    max_crawl_delay_policy: Literal["keep", "skip"] = Field(
        "keep",
        description="A Crawl-delay above the maximum: `keep` obeys it, slowly; `skip` leaves the "
        "host alone as Nutch does, which gives up on hosts that only asked for patience.",
    )
    parse: bool = Field(default=False, description="Parse each page as soon as it is fetched.")
    store_content: bool = Field(default=True, description="Keep the captures (WARC).")
    signature: bool = Field(
        default=False, description="Make a signature of the raw content when nothing is parsed."
    )
    timelimit_mins: int = Field(
        -1, ge=-1, description="Minutes until a fetch ends; what is left stays due; -1 off."
    )
    max_exceptions_per_queue: int = Field(
        5, ge=-1, description="Failures until a queue is given up for this fetch; -1 never."
    )
    exceptions_delay_s: float | None = Field(
        None,
        description="Added delay after the n-th failure: this × 2^(n-1); off: `server_delay_s`.",
    )
    exceptions_clear_after_s: float = Field(
        1800.0, ge=0, description="Quiet seconds after which a queue's failures are forgotten."
    )
    max_wait_s: float | None = Field(
        600.0,
        ge=0,
        description="A queue that must wait longer (Retry-After, Crawl-delay, failures) is left to "
        "a later round, so that one host cannot hold up all; off: always wait.",
    )
    max_retry_after_s: float = Field(
        86_400.0,
        ge=0,
        description="Longest Retry-After that is kept to as it stands: a server that names a day "
        "years away would else never be asked again. A lower one shortens waits noted before.",
    )
    queue_depth_multiplier: int = Field(
        50, ge=1, description="URLs held in memory at most: this times `threads`."
    )
    redirect_dedup_s: int = Field(
        86_400,
        ge=-1,
        description="A redirect target that was followed less than this long ago, in this part, is "
        "not followed again: what many pages redirect to is fetched once; -1 off.",
    )
    redirect_dedup_size: int = Field(
        10_000, ge=0, description="Redirect targets remembered for that."
    )
    bandwidth_target_kbps: int = Field(
        -1,
        ge=-1,
        description="Kilobits per second that a part should take: its slots go up and down from "
        "`threads` for it, never above `max_threads`; -1 off.",
    )
    bandwidth_check_every_s: int = Field(
        30, ge=1, description="Seconds between two looks at the bandwidth."
    )
    max_threads: int = Field(
        256, ge=1, description="Slots that the bandwidth target may lead to at most."
    )
    throughput_threshold_pages: int = Field(
        -1, ge=-1, description="Pages per second below which the fetch ends; -1 off."
    )
    throughput_threshold_retries: int = Field(
        5, ge=0, description="Seconds in a row below it before the fetch ends."
    )
    throughput_check_after_mins: int = Field(
        5, ge=0, description="Minutes before the throughput is looked at."
    )
    metrics_port: int = Field(
        0,
        ge=0,
        le=65_535,
        description="Port on which a running fetch tells Prometheus how it is going; 0 off. Needs "
        "the extra `filbert[metrics]`.",
    )
    metrics_host: OneLine = Field(
        "127.0.0.1", description="Address of that port; the loopback is for this machine alone."
    )
    filter_urls: bool = Field(default=False, description="Filter URLs again when they are queued.")
    normalize_urls: bool = Field(
        default=False, description="Normalise URLs again when they are queued."
    )

    def most_threads(self) -> int:
        """Return how many slots there may be, a bandwidth target at work."""
        if self.bandwidth_target_kbps < 0:
            return self.threads
        return max(self.threads, self.max_threads)
