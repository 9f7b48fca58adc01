"""Page tasks that worker processes of a test can import."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from filbert.engine.base import Part, PartResult
from filbert.errors import UserError


@dataclass(frozen=True)
class Square:
    """Squares part numbers; some parts go wrong on purpose."""

    def __call__(self, part: Part) -> PartResult:
        """Do the part."""
        if part.payload == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if part.payload == "break":
            raise ZeroDivisionError("broken")
        if part.payload == "user":
            raise UserError("wrong file", hint="name another")
        if part.payload == "pid":
            return PartResult(number=part.number, counters={"pid": os.getpid()})
        return PartResult(number=part.number, counters={"square": part.number**2})
