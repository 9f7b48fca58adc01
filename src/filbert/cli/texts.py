"""Printing texts piece by piece, as the readers of Nutch's own data do.

Guarantee: memory for one piece; what is no UTF-8 in one is printed as `?`.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["print_texts"]


def print_texts(texts: Iterable[str], output: Path | None, missing: str = "") -> int:
    """Print texts; if there are none, say what is missing, and return 1.

    Args:
        texts: They.
        output: The file that takes them; None: standard output.
        missing: What is said on standard error where there are none; empty: nothing.
    """
    count = 0
    with contextlib.ExitStack() as stack:
        if output is not None:
            file = stack.enter_context(output.open("w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(file))
        for text in texts:
            sys.stdout.write(text.encode("utf-8", "replace").decode())
            count += 1
    if missing and not count:
        click.echo(missing, err=True)
        return 1
    return 0
