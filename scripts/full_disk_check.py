"""Does a crawl survive a full disk, whatever step meets it?

    python scripts/full_disk_check.py          (as root: it mounts a small tmpfs)

Crawls a synthetic web in a file system that is too small, gives it a little more room each time
the crawl ends for want of it, and runs the same command again. Each failure must say so in plain
words, with exit code 3 and no traceback; in the end the crawl must be what an unbroken one is.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kill_check import SETTINGS, differences, outcome, unbroken
from scene import crawl_command, free_port, serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORDS = ("no room", "no space", "disk is full", "disk full")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check; 0 if every failure was clear and nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--rounds", default="2")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--first-kb", type=int, default=64, help="room at first")
    parser.add_argument("--more-kb", type=int, default=48, help="room added after each failure")
    chosen = parser.parse_args(arguments)
    chosen.port = free_port()
    with tempfile.TemporaryDirectory(prefix="filbert-full-") as name:
        folder = Path(name)
        wanted, _ = unbroken(folder, chosen)
        with small_disk(folder / "disk", chosen.first_kb) as disk:
            faults = crawl_in(disk, chosen)
            log = folder / "full.jsonl"
            with serve(log, chosen) as web:
                # What was in flight when the disk was full may be asked again: no kill, no judge.
                got = outcome(disk / "crawl", web, [])
        faults += differences(wanted, got)
    for fault in faults[:30]:
        print("  fault:", fault)
    print("nothing lost or different" if not faults else f"{len(faults)} faults")
    return bool(faults)


@contextmanager
def small_disk(path: Path, kb: int) -> Iterator[Path]:
    """Mount a tmpfs of `kb` inside the block."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kb}k", "tmpfs", str(path)], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=False)


def crawl_in(disk: Path, chosen: argparse.Namespace) -> list[str]:
    """Crawl until it ends well, with a little more room each time; return what was not clear."""
    faults: list[str] = []
    kb, failures = chosen.first_kb, 0
    with serve(disk.parent / "served.jsonl", chosen) as web:
        command = crawl_command(
            disk / "crawl", web, rounds=chosen.rounds, seeds=3, settings=SETTINGS
        )
        while failures < 200:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode == 0:
                print(f"{failures} failures for want of room, done at {kb} KB")
                return faults
            failures += 1
            said = done.stderr.lower()
            if done.returncode != 3 or "traceback" in said or not any(w in said for w in WORDS):
                faults.append(f"at {kb} KB, exit code {done.returncode}: {done.stderr[-1500:]}")
            kb += chosen.more_kb
            grown = f"remount,size={kb}k"
            subprocess.run(["mount", "-o", grown, str(disk)], check=True)
    return [*faults, "it did not end after 200 tries"]


if __name__ == "__main__":
    raise SystemExit(main())
