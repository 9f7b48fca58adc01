"""The checks that people run from `scripts/`, small enough for every CI run."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.journey


def check(repository: Path, script: str, *options: str) -> str:
    """Run a script and return what it printed; it must end with 0."""
    command = [sys.executable, str(repository / "scripts" / script), *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_a_crawl_survives_kills(repository: Path) -> None:
    """After `kill -9` the same command goes on, and ends as an unbroken crawl does."""
    printed = check(repository, "kill_check.py", "--kills", "3", "--hosts", "4", "--pages", "12")
    assert printed.endswith("3 kills: nothing lost, doubled or different\n")


def test_a_long_fetch_survives_kills(repository: Path) -> None:
    """With redirects followed at once: nothing lost, doubled, or asked before its time."""
    printed = check(
        repository, "fetch_kill_check.py", "--kills", "3", "--hosts", "20", "--pages", "20"
    )
    assert printed.endswith("3 kills: nothing lost, doubled or rude\n")


def test_a_crawl_is_polite(repository: Path) -> None:
    """The server saw the delay kept, robots.txt once a host, nothing disallowed; over a kill."""
    printed = check(
        repository,
        "politeness_check.py",
        *("--hosts", "12", "--pages", "8", "--delay", "0.3", "--rounds", "3"),
        *("--kill-after", "8"),
    )
    assert printed.endswith("\npolite\n")


def test_a_crawl_survives_a_full_disk(repository: Path) -> None:
    """Each step that meets a full disk says so, and goes on once there is room."""
    if os.geteuid():
        pytest.skip("only root can mount a small disk")
    printed = check(repository, "full_disk_check.py")
    assert printed.endswith("\nnothing lost or different\n")
