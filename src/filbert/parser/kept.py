"""The guarded process that serves all parts of a worker.

Guarantee: in a worker of the engine's pool the process lives from one part to the next, as long as
the settings are the same, and ends with the worker; anywhere else it ends with the part. An error
ends it at once, since it may be in the middle of an answer.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.engine.pool import lifetime
from filbert.parser.guard import GuardedParser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filbert.parser.jobs import ParseOptions

__all__ = ["guarded_parser"]


@dataclass(slots=True)
class _Kept:
    options: ParseOptions | None = None
    parser: GuardedParser | None = None

    def end(self) -> None:
        if self.parser is not None:
            self.parser.__exit__(None)
        self.options = self.parser = None


_kept = _Kept()


@contextmanager
def guarded_parser(options: ParseOptions) -> Iterator[GuardedParser]:
    """Give the process for one part; it starts with the first page."""
    worker = lifetime()
    if worker is None:
        with GuardedParser(options) as parser:
            yield parser
        return
    if _kept.parser is None or _kept.options != options:
        _kept.end()
        worker.callback(_kept.end)
        _kept.options, _kept.parser = options, GuardedParser(options)
    try:
        yield _kept.parser
    except BaseException as error:
        _kept.parser.__exit__(type(error), error, error.__traceback__)
        raise
