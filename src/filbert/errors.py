"""The family of errors, sorted by who must act.

Guarantee: whatever filbert raises on purpose is a `FilbertError`; its text says what is wrong and
where, its `hint` what would be right. What a web server does is never an error, it is a record.
"""

from __future__ import annotations

__all__ = ["DataError", "EngineError", "FilbertError", "PluginError", "UserError"]


class FilbertError(Exception):
    """Base of all errors that filbert raises on purpose.

    Args:
        message: What is wrong, and where.
        hint: What would be right, or how to go on; empty if the message says it.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return the message, with the hint on a line of its own."""
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UserError(FilbertError):
    """The call, a setting or an input file is wrong: the user can mend it. Exit code 2."""

    exit_code = 2


class DataError(FilbertError):
    """A crawl folder is damaged, held by another process, or newer than we read. Exit code 3."""

    exit_code = 3


class PluginError(FilbertError):
    """A plugin is missing, or broke its contract; names the plugin and its origin. Exit code 2."""

    exit_code = 2


class EngineError(FilbertError):
    """The engine could not run a query or a page task: memory, disk, a dead worker. Exit code 3."""

    exit_code = 3
