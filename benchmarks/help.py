"""How long `filbert --help` takes, in a process of its own: the median of eleven.

    python -m benchmarks.help

Aim: at most 0.2 s.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 11


def main() -> None:
    """Print the median, the best and the worst."""
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "filbert.cli", "--help"], check=True, stdout=subprocess.DEVNULL
        )
        seconds.append(time.perf_counter() - start)
    print(
        f"filbert --help: median {statistics.median(seconds):.3f} s "
        f"(best {min(seconds):.3f}, worst {max(seconds):.3f}, aim 0.2)"
    )


if __name__ == "__main__":
    main()
