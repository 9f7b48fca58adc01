"""The command line: `filbert <command> <crawl-dir> …`. A door: no logic behind it lives here.

Guarantee: importing this package loads no command and none of the heavy libraries.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "run"]


def run(args: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Args:
        args: The arguments after `filbert`; None takes those of the process.
    """
    from filbert.cli.failures import exit_code_of
    from filbert.cli.group import filbert

    return exit_code_of(
        lambda: filbert.main(
            args=None if args is None else list(args), prog_name="filbert", standalone_mode=False
        )
    )


def main() -> None:
    """Run the command line of this process, and end it with the exit code."""
    sys.exit(run())
