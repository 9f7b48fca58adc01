"""What the checks in this folder share: a synthetic web in a process of its own, and crawls of it.

Guarantee: everything stays on loopback and ends with the check.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = [
    "AGENT",
    "Request",
    "Web",
    "command_of",
    "crawl_command",
    "filbert",
    "free_port",
    "rows",
    "run",
    "serve",
]


AGENT = "filbert-check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as the server saw it; times in epoch milliseconds."""

    start_ms: int
    end_ms: int
    host: str
    path: str
    status: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """A synthetic web that is being served."""

    seeds: tuple[str, ...]
    resolve: tuple[str, ...]
    log: Path

    def requests(self) -> list[Request]:
        """Return what the server has seen so far, in order of start."""
        seen = [Request(**json.loads(line)) for line in self.log.read_text().splitlines()]
        return sorted(seen, key=lambda one: (one.start_ms, one.end_ms))


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def serve(log: Path, web: argparse.Namespace) -> Iterator[Web]:
    """Serve a web (its hosts, pages, seed, port) until the block ends."""
    log.touch()
    command = [sys.executable, "-m", "filbert.testing.synthetic_server", "--log", str(log)]
    for name in ("hosts", "pages", "seed", "port"):
        command += [f"--{name}", str(getattr(web, name))]
    # Slow hosts, but no patience needed.
    command += ["--slow-ms", "300", "--crawl-delay", "0.2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            known = json.loads(server.stdout.readline() if server.stdout else "")
            yield Web(seeds=tuple(known["seeds"]), resolve=tuple(known["http.resolve"]), log=log)
        finally:
            server.terminate()


def crawl_command(
    crawl: Path, web: Web, *, rounds: str, seeds: int, settings: Sequence[str] = ()
) -> list[str]:
    """Return the command that crawls the web; `settings` are `name=value`."""
    named = [part for url in web.seeds[:seeds] for part in ("--seeds", url)]
    return command_of("crawl", crawl, web, "--rounds", rounds, *named, settings=settings)


def command_of(
    step: str, crawl: Path, web: Web, *options: str, settings: Sequence[str] = ()
) -> list[str]:
    """Return a command over the web; `settings` are `name=value`."""
    chosen = [
        f"http.agent_name={AGENT}",
        f"http.resolve={json.dumps(list(web.resolve))}",
        'http.allow_addresses=["127.0.0.0/8"]',
        *settings,
    ]
    command = [sys.executable, "-m", "filbert.cli", step, str(crawl), *options]
    return command + [part for setting in chosen for part in ("-D", setting)]


def run(command: Sequence[str]) -> None:
    """Run a command in silence; if it fails, show the end of what it said and raise."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-3000:], file=sys.stderr)
        done.check_returncode()


def filbert(*arguments: str) -> str:
    """Run a filbert command and return what it prints; CalledProcessError if it fails."""
    command = [sys.executable, "-m", "filbert.cli", *arguments]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}
    )
    return done.stdout


def rows(crawl: Path, query: str) -> list[dict[str, object]]:
    """Return the rows of a query over a crawl folder."""
    printed = filbert("sql", str(crawl), query, "--format", "jsonl")
    return [json.loads(line) for line in printed.splitlines()]
