"""Logging: lines for people on a terminal, plain lines or JSON for machines.

Guarantee: logs go to stderr, so that stdout is a command's answer alone; set up once per process,
when a command starts.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from structlog.typing import Processor

__all__ = ["FORMATS", "LEVELS", "set_up_logs"]

LEVELS: Final = ("debug", "info", "warning", "error")
FORMATS: Final = ("auto", "plain", "json")


class _StderrOfNow:
    """Writes to what `sys.stderr` is at the moment: a live display replaces it for its time."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def set_up_logs(level: str = "info", form: str = "auto") -> None:
    """Set up structlog for this process.

    Args:
        level: One of `LEVELS`; what is below is not made at all.
        form: `json`, `plain`, or `auto`: for people if stderr is a terminal, else plain.
    """
    import structlog

    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
    ]
    if form == "json":
        processors += [
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ]
    else:
        processors += [
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(
                colors=form == "auto" and sys.stderr.isatty(), pad_event_to=0
            ),
        ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(file=_StderrOfNow()),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
