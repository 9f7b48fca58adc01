"""The whole job on this machine: serve a small web, crawl it, index it, search it.

    python demo/run.py [CRAWL_DIR]

Guarantee: nothing leaves loopback; the crawl is polite (a tenth of a second between two requests
to a host) and real: each step is the command that you would run.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from site_pages import ADDRESSES, Site, load_sites

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PORT = 8478
_SCRIPT = Path(sys.executable).with_name("filbert")
_FILBERT = os.path.relpath(_SCRIPT) if _SCRIPT.exists() else "filbert"
_SEARCHES = ("roasted hazelnuts", '"mast years"', "木の実", "dormouse site:127.0.0.2")
_SETTINGS = (
    "http.agent_name=filbert-demo",
    "http.allow_addresses=loopback",
    "fetcher.server_delay_s=0.1",
)


def main(arguments: Sequence[str]) -> int:
    """Run the demo; the exit code is that of the first command that fails."""
    crawl = Path(arguments[0]) if arguments else _own_folder()
    if crawl.exists():
        sys.exit(f"{crawl} is there already; name a folder that is not")
    port = _free_port()
    sites = load_sites(port)
    began = time.monotonic()
    with serving(sites, port):
        pages = sum(site.pages for site in sites)
        print(f"Serving {pages} pages on {', '.join(ADDRESSES.values())}, port {port}.")
        seed = f"http://{sites[0].address}:{port}/"
        options = [part for setting in _SETTINGS for part in ("-D", setting)]
        failed = run("crawl", crawl, "--seeds", seed, "--rounds", "all", *options)
    if failed:
        return failed
    for words in _SEARCHES:
        failed = failed or run("search", crawl, words, "-n", "3")
    print(f"\nDone in {time.monotonic() - began:.0f} s. The crawl is in {crawl}. Go on with:")
    secret = f"http://{ADDRESSES['squirrels']}:{port}/private/nests"
    for hint in (
        f"search {crawl} squirrel nuts",
        f"explain {crawl} {seed}hazel",
        f"explain {crawl} {secret}",
        f"readdb {crawl} --stats",
        f'sql {crawl} "select url, title, language from pages"',
    ):
        print(f"  {_FILBERT} {hint}")
    return failed


def _own_folder() -> Path:
    """Return the demo's own crawl folder, less what an earlier demo left in it."""
    folder = Path(os.path.relpath(Path(__file__).resolve().parent.parent / ".demo"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder / "crawl"


def run(*arguments: object) -> int:
    """Run a filbert command, shown as one would type it; return its exit code."""
    words = [str(argument) for argument in arguments]
    shown = " ".join(f"'{word}'" if " " in word or '"' in word else word for word in words)
    print(f"\n$ filbert {shown}", flush=True)
    return subprocess.run([sys.executable, "-m", "filbert.cli", *words], check=False).returncode


@contextmanager
def serving(sites: Sequence[Site], port: int) -> Iterator[None]:
    """Serve the sites, each on its address, until the block ends."""
    with ExitStack() as stack:
        for site in sites:
            server = ThreadingHTTPServer((site.address, port), _handler(site))
            thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
        yield


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            reply = site.replies.get(self.path)
            if reply is None:
                self.send_error(404)
                return
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            if reply.location:
                self.send_header("Location", reply.location)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing: the crawler reports."""

    return Handler


def _free_port() -> int:
    """Return the demo's port, or another one if somebody listens there."""
    try:
        for address in ADDRESSES.values():
            socket.create_server((address, _PORT)).close()
    except OSError:
        with socket.create_server((ADDRESSES["hedge"], 0)) as server:
            return int(server.getsockname()[1])
    return _PORT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
