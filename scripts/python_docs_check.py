"""Real input: crawl the Python documentation on four hosts, and check it from outside.

    scripts/install_python_docs.sh          # once, as root
    python scripts/python_docs_check.py [--keep FOLDER] [--port N]

Debian's python3-doc is served by nginx on 127.0.0.1 to 127.0.0.4, part of its links turned into
links between the hosts, and crawled from one seed until nothing is due. Then:

1. every HTML page that links lead to, within the filters, was fetched exactly once: nginx's log
   against a walk of the links made here with lxml, which shares no code with filbert's parser;
2. five things that a Python user would look for are found, the right page among the first three.

Exit code 0 only if all of it holds.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

from lxml import html as lxml_html
from scene import AGENT, filbert, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE = Path(__file__).resolve().parent
_WALKER = "link-walk"
_HOSTS = {  # areas of the documentation that live on each host
    "127.0.0.1": ("tutorial", "using", "whatsnew", "installing"),
    "127.0.0.2": ("library",),
    "127.0.0.3": ("c-api", "extending"),
    "127.0.0.4": ("reference", "howto", "faq", "distributing"),
}
_SEARCHES = (  # what a Python user asks, and where the answer is
    ("asyncio gather", "/library/asyncio-task.html"),
    ("read csv file", "/library/csv.html"),
    ("regular expression syntax", "/library/re.html"),
    ("list comprehensions", "/tutorial/datastructures.html"),
    ("dataclass default_factory", "/library/dataclasses.html"),
)
# Nutch's default regex-urlfilter, said anew: endings that nobody parses, queries, loops.
_DROPPED = re.compile(
    r"\.(?:gif|jpg|png|ico|css|sit|eps|wmf|zip|ppt|mpg|xls|gz|rpm|tgz|mov|exe|jpeg|bmp|js)$"
    r"|[?*!@=]|(/[^/]+)/[^/]+\1/[^/]+\1/",
    re.IGNORECASE,
)


def main() -> int:
    """Run the check and print the verdict."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--keep", type=Path, help="Work in this new folder, and leave it there.")
    parser.add_argument("--port", type=int, default=0, help="Port of the four hosts; 0: any.")
    options = parser.parse_args()
    root = _documentation()
    if root is None or shutil.which("nginx") is None:
        print("SKIPPED: python3-doc or nginx is missing; run scripts/install_python_docs.sh")
        return 77
    folder = options.keep or Path(tempfile.mkdtemp(prefix="python-docs-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        failures = check(folder.resolve(), root, options.port or free_port())
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    for failure in failures:
        print(f"FAILED: {failure}")
    print("VERDICT: " + ("all of it holds" if not failures else f"{len(failures)} checks failed"))
    return 1 if failures else 0


def check(folder: Path, root: Path, port: int) -> list[str]:
    """Serve, crawl, walk, compare and search; return what does not hold."""
    crawl = folder / "crawl"
    seed = f"http://127.0.0.1:{port}/index.html"
    with nginx(folder, root, port):
        began = time.monotonic()
        _crawl(crawl, seed)
        print(f"crawled in {time.monotonic() - began:.0f} s")
        walked = walk(seed)
    failures = _compare(folder / "access.log", walked)
    return failures + _search(crawl)


def _documentation() -> Path | None:
    found = [path.parent for path in Path("/usr/share/doc").glob("python3*/html/library/csv.html")]
    return min(found).parent.resolve() if found else None


@contextmanager
def nginx(folder: Path, root: Path, port: int) -> Iterator[None]:
    """Serve the documentation until the block ends."""
    filters, servers = [], []
    for host, areas in _HOSTS.items():
        for area in areas:
            filters += [
                f"  sub_filter 'href=\"{up}{area}/' 'href=\"http://{host}:{port}/{area}/';"
                for up in ("", "../")
            ]
        servers.append(f"  server {{ listen {host}:{port}; }}")
    template = Template((_HERE / "python_docs_nginx.conf.template").read_text(encoding="utf-8"))
    text = template.substitute(
        folder=folder, root=root, filters="\n".join(filters), servers="\n".join(servers)
    )
    config = folder / "nginx.conf"
    config.write_text(text, encoding="utf-8")
    command = ["nginx", "-p", str(folder), "-c", str(config)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_until_up(f"http://127.0.0.1:{port}/index.html", server)
            yield
        finally:
            server.terminate()


def _wait_until_up(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        if server.poll() is not None:
            sys.exit("nginx did not start; see its error.log")
        try:
            get(url)
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit("nginx does not answer")


def _crawl(crawl: Path, seed: str) -> None:
    crawl.mkdir()
    (crawl / "domain-urlfilter.txt").write_text("\n".join(_HOSTS), encoding="utf-8")
    settings = (
        f"http.agent_name={AGENT}",
        "http.allow_addresses=loopback",
        "http.only_addresses=loopback",  # the documentation links to half the web
        "urls.filters=regex,domain",
        "fetcher.server_delay_s=0.05",
        "parse.max_outlinks_per_page=-1",
    )
    chosen = [part for setting in settings for part in ("-D", setting)]
    command = [sys.executable, "-m", "filbert.cli", "crawl", str(crawl)]
    subprocess.run([*command, "--seeds", seed, "--rounds", "all", *chosen], check=True)


def get(url: str) -> tuple[int, str, bytes]:
    """Return status, media type and body of a URL."""
    request = urllib.request.Request(url, headers={"User-Agent": _WALKER})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, reply.headers.get_content_type(), reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get_content_type(), error.read()


def walk(seed: str) -> set[str]:
    """Return all HTML pages that links lead to from the seed, within the filters."""
    found: set[str] = set()
    seen = {seed}
    waiting = [seed]
    while waiting:
        url = waiting.pop()
        status, media_type, body = get(url)
        if status != 200 or media_type != "text/html":
            continue
        found.add(url)
        for link in _links(body, url):
            if link not in seen and _is_wanted(link):
                seen.add(link)
                waiting.append(link)
    return found


def _links(body: bytes, base: str) -> Iterator[str]:
    tree = lxml_html.fromstring(body)
    for element in tree.iter("a", "area", "link", "frame", "iframe", "form"):
        target = element.get("href") or element.get("src") or element.get("action")
        if target:
            yield urldefrag(urljoin(base, target.strip())).url


def _is_wanted(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname in _HOSTS and not _DROPPED.search(url)


def _compare(log: Path, walked: set[str]) -> list[str]:
    fetched: Counter[str] = Counter()
    robots: Counter[str] = Counter()
    for line in log.read_text(encoding="utf-8").splitlines():
        host, path, status, _, media_type, agent = line.split(" ", 5)
        if AGENT not in agent:
            continue
        if path == "/robots.txt":
            robots[host] += 1
        elif status == "200" and media_type == '"text/html"':
            fetched[f"http://{host}{path}"] += 1
    hosts = {urlsplit(url).hostname for url in walked}
    print(
        f"walked {len(walked)} HTML pages on {len(hosts)} hosts; the crawl fetched {len(fetched)}"
    )
    missed, strange = walked - fetched.keys(), fetched.keys() - walked
    twice = [url for url, times in fetched.items() if times > 1]
    failures = []
    for urls, what in ((missed, "not fetched"), (strange, "not linked"), (twice, "fetched twice")):
        if urls:
            failures.append(f"{len(urls)} pages {what}, such as {sorted(urls)[:3]}")
    often = {host: times for host, times in robots.items() if times > 1}
    if often:
        failures.append(f"robots.txt was asked for more than once: {often}")
    return failures


def _search(crawl: Path) -> list[str]:
    failures = []
    for words, wanted in _SEARCHES:
        printed = filbert("search", str(crawl), words, "-n", "3", "--format", "jsonl")
        paths = [urlsplit(json.loads(line)["url"]).path for line in printed.splitlines()]
        place = paths.index(wanted) + 1 if wanted in paths else 0
        print(f"search {words!r}: {wanted} is {f'hit {place}' if place else f'not in {paths}'}")
        if not place:
            failures.append(f"{words!r} does not find {wanted} among the first three hits")
    return failures


if __name__ == "__main__":
    sys.exit(main())
