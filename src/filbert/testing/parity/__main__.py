"""Hold our rules beside recorded decisions: `python -m filbert.testing.parity reducer FILE`.

Guarantee: exit 0 only if no case differs; the last line is the summary.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filbert.testing.parity.report import ParityReport

_SHOWN = 10


def main(arguments: list[str] | None = None) -> int:
    """Run one runner over one file and print what it found."""
    parser = argparse.ArgumentParser(prog="python -m filbert.testing.parity", description=__doc__)
    parser.add_argument("rule", choices=("reducer", "generator"))
    parser.add_argument("file", type=Path, help="cases, one JSON object a line, gzip")
    chosen = parser.parse_args(arguments)
    runner = importlib.import_module(f"filbert.testing.parity.{chosen.rule}")
    report: ParityReport = runner.run(chosen.file)
    for difference in report.differences[:_SHOWN]:
        print(f"case {difference.case}: {difference.what}")
        print(f"  Nutch   {difference.theirs}\n  filbert {difference.ours}")
    if len(report.differences) > _SHOWN:
        print(f"… and {len(report.differences) - _SHOWN} more")
    print(report.summary)
    return 1 if report.differences else 0


if __name__ == "__main__":
    sys.exit(main())
