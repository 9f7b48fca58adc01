"""Servers of ill will beside healthy ones: the crawl ends, loses nothing, and stays polite."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from filbert.fetcher.left_due import read_left_due
from filbert.testing.hostile_server import CONNECTIONS, TLS, HostileServer
from filbert.testing.synthetic_server import SyntheticServer
from filbert.testing.synthetic_web import WebSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from filbert.fetcher.left_due import LeftUrl

pytestmark = pytest.mark.journey
HOSTS, PAGES = 200, 4
DELAY_S = 0.05
CLOCK_SLACK_S = 0.005
NO_ROBOTS = [f"{name}.test" for name in (*CONNECTIONS, *TLS)]
SETTINGS = (
    "http.agent_name=testbot",
    f"fetcher.server_delay_s={DELAY_S}",
    "fetcher.max_wait_s=2",
    "fetcher.max_exceptions_per_queue=-1",
    "http.timeout_ms=500",
    "http.time_limit_s=2",
    "http.content_limit=1000000",
    "http.redirect_max=5",
    "http.tls_certificates_check=true",
    "robots.defer_delay_ms=100",
    "robots.defer_retries=1",
    f"robots.allowlist={json.dumps(NO_ROBOTS)}",  # else their pages would never be asked for
)


def crawl(folder: Path, seeds: Sequence[str], resolve: Sequence[str]) -> tuple[int, float, float]:
    """Crawl three rounds; return exit code, seconds, and the peak of a process's memory in MB."""
    seed_file = folder.with_suffix(".seeds")
    seed_file.write_text("\n".join(seeds), encoding="utf-8")
    command = [sys.executable, "-m", "filbert.cli", "crawl", str(folder), "--rounds", "3"]
    command += ["--seeds", str(seed_file)]
    for setting in (*SETTINGS, f"http.resolve={json.dumps(list(resolve))}"):
        command += ["-D", setting]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    process.stderr.close()
    assert "Traceback" not in said, said[-4000:]
    return code, time.monotonic() - began, used.ru_maxrss / 1024


def rows(folder: Path, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query over a crawl folder."""
    command = [sys.executable, "-m", "filbert.cli", "sql", str(folder), query, "--format", "jsonl"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in printed.splitlines()]


CUT = "success, cut: length"
OUTCOMES = {
    CUT: "endless-body endless-chunks gzip-bomb deflate-bomb brotli-bomb zstd-bomb",
    "success": "nested-codings thirty-codings coding-lies coding-unknown length-negative"
    " length-huge length-too-short chunk-size-bad chunk-extension-huge close-kept-connections"
    " cookies-without-end header-huge header-binary header-nul"
    " header-without-colon header-folded http-0.9 http-9.9 status-garbage type-lies charset-lies"
    " nested-deeply attributes-without-end connect-garbage robots-endless robots-in-a-circle"
    " robots-binary robots-bomb robots-wildcards",
    "success, cut: disconnect": "coding-broken",
    "timeout": "drip-head drip-body silent silent-after-status silent-in-body connect-silent"
    " tls-stalls tls-half-a-record",
    "headers_too_long": "headers-ten-thousand endless-head endless-header-line"
    " endless-status-line flood-of-1xx flood-of-trailers",
    "disconnected": "length-too-long chunk-size-huge chunk-end-missing reset-after-request"
    " reset-after-status reset-in-head reset-in-body connect-reset",
    "empty_reply": "close-at-once connect-close switching-protocols",
    "bad_reply": "length-twice status-without-number",
    "tls_failed": "tls-closes tls-resets tls-garbage tls-is-plain tls-wrong-name",
    "http_204": "no-content-with-body",
    "unasked_304": "not-modified-unasked",
    "http_429": "always-429 retry-after-garbage",
    "http_503": "retry-after-years",
    "http_999": "status-999",
    "access_denied": "unauthorized-huge",
    "redirect: self": "redirect-to-itself redirect-blank",
    "redirect: followed": "redirect-in-a-circle redirect-without-end redirect-to-metadata"
    " redirect-to-decimal",
    "redirect: no_url": "redirect-to-script redirect-garbage",
    "redirect: filtered": "redirect-to-file",
    "redirect: too_long": "redirect-huge",
    "left due: robots_unavailable": "robots-silent robots-drips robots-resets robots-503"
    " robots-closes",
}
"""What each behaviour comes to, for every URL that was asked for or left due."""

EITHER = {  # a reset may come before, with or after whatever is on its way
    "connect-close": ("disconnected",),
    "connect-garbage": ("disconnected",),
    "connect-reset": ("connect_failed", "empty_reply"),
    "tls-closes": ("connect_failed",),
    "tls-resets": ("connect_failed",),
    "retry-after-years": ("left due: retry_after",),  # its second page is not asked for any more
    # both pages of a host redirect to one target, which is followed once
    "redirect-in-a-circle": ("redirect: duplicate",),
    "redirect-without-end": ("redirect: duplicate",),
    "redirect-to-metadata": ("redirect: duplicate",),
    "redirect-to-decimal": ("redirect: duplicate",),
}

MOST_REQUESTS = 40  # of one host: two pages, five hops each, each asked twice at most, robots.txt


def outcome(row: Mapping[str, Any]) -> str:
    """Return what became of a fetch, in words of `OUTCOMES`."""
    if row["redirect_verdict"]:
        return f"redirect: {row['redirect_verdict'].partition(':')[0]}"
    if row["status"] == "fetch_success":
        return f"success, cut: {row['truncated']}" if row["truncated"] else "success"
    return str(row["reason"])


@pytest.mark.timeout(400)
def test_the_healthy_are_not_hurt(tmp_path: Path) -> None:
    """All pages of 200 ordinary hosts arrive beside 90 that misbehave, each in its own way."""
    folder, work = tmp_path / "crawl", tmp_path / "work"
    work.mkdir()
    with (
        HostileServer(work) as hostile,
        SyntheticServer(WebSpec.plain(hosts=HOSTS, pages=PAGES)) as healthy,
    ):
        seeds = [f"{healthy.web.origin(number)}/" for number in range(HOSTS)]
        resolve = [*healthy.resolve(), *hostile.resolve()]
        code, seconds, peak_mb = crawl(folder, [*seeds, *hostile.seeds()], resolve)
        asked = {(one.host, one.path) for one in healthy.seen}
    assert code == 0
    assert (seconds < 180, peak_mb < 700) == (True, True), (seconds, peak_mb)

    fetches = rows(
        folder,
        "select segment, url, host, status, reason, truncated, redirect_verdict from fetches"
        " where hop = 0",
    )
    pages = {row["url"]: row["status"] for row in rows(folder, "select url, status from crawldb")}
    arrived = [row["url"] for row in fetches if re.fullmatch(r"h\d+\.test", row["host"])]
    assert len(arrived) == HOSTS * PAGES == len(asked) - HOSTS
    assert {pages[url] for url in arrived} == {"db_fetched"}

    check_outcomes(folder, fetches, set(hostile.seeds()))
    assert [name for name, seen in hostile.seen.items() if seen > MOST_REQUESTS] == []
    gaps = {
        name: min(b - a for a, b in pairwise(times))
        for name, times in hostile.times.items()
        if len(times) > 1
    }
    assert {name: gap for name, gap in gaps.items() if gap < DELAY_S - CLOCK_SLACK_S} == {}


def check_outcomes(folder: Path, fetches: Sequence[Mapping[str, Any]], seeds: set[str]) -> None:
    """Hold what became of each URL of ill will beside what should; each ended once a round."""
    got: dict[str, set[str]] = defaultdict(set)
    ended = Counter((row["segment"], row["url"]) for row in fetches)
    for row in fetches:
        if row["url"].endswith(("/a", "/again")):
            got[row["host"].removesuffix(".test")].add(outcome(row))
    for segment, left in left_due(folder):
        ended[segment, left.url] += 1
        got[left.url.split("/")[2].removesuffix(".test")].add(f"left due: {left.reason}")
    wanted = {
        name: {what, *EITHER.get(name, ())}
        for what, names in OUTCOMES.items()
        for name in names.split()
    }
    assert {name: what for name, what in got.items() if not what <= wanted[name]} == {}
    assert wanted.keys() == got.keys()
    assert seeds - {url for _, url in ended} == set()
    assert [one for one, times in ended.items() if times > 1] == []
    assert len(wanted) >= 80


def left_due(folder: Path) -> list[tuple[str, LeftUrl]]:
    """Return the URLs that each round left due, with its segment."""
    found = folder.glob("segments/*/left_due")
    return [(path.parent.name, one) for path in found for one in read_left_due(path)]
