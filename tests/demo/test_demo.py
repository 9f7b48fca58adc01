"""The demo's web holds together, and the demo finds what it serves."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def replies(repository: Path) -> dict[str, Any]:
    """Every URL of the demo's web with its reply."""
    spec = importlib.util.spec_from_file_location(
        "site_pages", repository / "demo" / "site_pages.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["site_pages"] = module
    spec.loader.exec_module(module)
    return {
        f"http://{site.address}:8478{path}": reply
        for site in module.load_sites(8478)
        for path, reply in site.replies.items()
    }


def links(url: str, replies: dict[str, Any]) -> list[str]:
    """Where a page leads to."""
    reply = replies[url]
    found = re.findall(r'href="([^"]+)"', reply.body.decode())
    return [urljoin(url, target) for target in [*found, reply.location] if target]


def test_every_link_has_a_reply(replies: dict[str, Any]) -> None:
    """No link of the demo leads out of it, or nowhere."""
    got = {target for url in replies for target in links(url, replies)} - replies.keys()
    assert got == set()


def test_one_seed_leads_everywhere(replies: dict[str, Any]) -> None:
    """From the first page all others can be reached."""
    seen: set[str] = set()
    waiting = ["http://127.0.0.1:8478/"]
    while waiting:
        url = waiting.pop()
        if url not in seen:
            seen.add(url)
            waiting += links(url, replies)
    got = {url for url in replies.keys() - seen if not url.endswith("/robots.txt")}
    assert got == set()


def test_it_has_one_of_each(replies: dict[str, Any]) -> None:
    """Pages on three hosts in ten languages, a redirect, a missing page, and a copy."""
    bodies = [reply.body for reply in replies.values() if reply.status == 200]
    languages = {match[1] for body in bodies if (match := re.search(rb'lang="(\w+)"', body))}
    hosts = {urlsplit(url).hostname for url in replies}
    statuses = {reply.status for reply in replies.values()}
    got = (len(bodies) > 45, len(languages), len(hosts), statuses)
    assert got == (True, 11, 3, {200, 301, 404})
    assert (
        replies["http://127.0.0.1:8478/hazelnut"]
        == (replies["http://127.0.0.1:8478/print/hazelnut"])
    )


@pytest.mark.journey
@pytest.mark.timeout(180)
def test_demo_ends_with_hits(repository: Path, tmp_path: Path) -> None:
    """The demo crawls its web, and every one of its searches finds something."""
    done = subprocess.run(
        [sys.executable, str(repository / "demo" / "run.py"), str(tmp_path / "crawl")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    searches = re.split(r"^\$ filbert search .*$", done.stdout, flags=re.MULTILINE)[1:]
    found = ["found:" in answer for answer in searches]
    assert found == [True] * 4
    assert "private/nests" not in "".join(searches).partition("Go on with")[0]
