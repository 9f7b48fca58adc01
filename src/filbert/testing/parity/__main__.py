"""Hold our rules beside recorded decisions: `python -m filbert.testing.parity reducer FILE`.

`functions FILE...` takes tables of recorded results, each named as the function: robots.jsonl.gz.
Guarantee: exit 0 only if no case differs; the last line of each file is its summary.
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
_TABLES = ("robots",)


def main(arguments: list[str] | None = None) -> int:
    """Run one runner over its files and print what it found."""
    parser = argparse.ArgumentParser(prog="python -m filbert.testing.parity", description=__doc__)
    parser.add_argument("rule", choices=("reducer", "generator", "functions"))
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="cases, one JSON object a line, gzip"
    )
    chosen = parser.parse_args(arguments)
    reports = [_run(chosen.rule, path, parser) for path in chosen.files]
    return 1 if any(report.differences for report in reports) else 0


def _run(rule: str, path: Path, parser: argparse.ArgumentParser) -> ParityReport:
    name = path.name.removesuffix(".jsonl.gz") if rule == "functions" else rule
    if rule == "functions" and name not in _TABLES:
        parser.error(f"{path.name}: there is no runner for {name}, only for {', '.join(_TABLES)}")
    runner = importlib.import_module(f"filbert.testing.parity.{name}")
    report: ParityReport = runner.run(path)
    for difference in report.differences[:_SHOWN]:
        print(f"case {difference.case}: {difference.what}")
        print(f"  Nutch   {difference.theirs}\n  filbert {difference.ours}")
    if len(report.differences) > _SHOWN:
        print(f"… and {len(report.differences) - _SHOWN} more")
    print(f"{name}: {report.summary}" if rule == "functions" else report.summary)
    return report


if __name__ == "__main__":
    sys.exit(main())
