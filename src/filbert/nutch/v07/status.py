"""How a fetch and a parse ended: `ProtocolStatus` and `ParseStatus` of Nutch 0.7.

Source: Nutch 0.7.2 `protocol.ProtocolStatus`, `parse.ParseStatus`. Nutch 0.6 had a byte instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from filbert.nutch.data import CorruptDataError
from filbert.nutch.writable import VersionedWritable

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["OLD_CODES", "PARSED", "ParseStatus", "ProtocolStatus"]

OLD_CODES = {0: "RETRY", 1: "SUCCESS", 2: "NOT_FOUND", 4: "CANT_PARSE"}
"""The byte of Nutch 0.6, which has no 3."""

_SUCCESS, _FAILED, _NOTFOUND, _RETRY = 1, 2, 14, 15
_OF_OLD = (_RETRY, _SUCCESS, _NOTFOUND, _FAILED, _RETRY)
_NAMES = {
    _SUCCESS: "success",
    _FAILED: "failed",
    10: "proto_not_found",
    11: "gone",
    12: "moved",
    13: "temp_moved",
    _NOTFOUND: "notfound",
    _RETRY: "retry",
    16: "exception",
    17: "access_denied",
    18: "robots_denied",
    19: "redir_exceeded",
    20: "notfetching",
    21: "notmodified",
}
_MAJORS = ("notparsed", "success", "failed")
_TRANSIENT = frozenset({10, 13, 15, 16, 17, 19})
_PERMANENT = frozenset({2, 11, 12, 14, 18})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolStatus(VersionedWritable):
    """How a fetch ended.

    Attributes:
        code: Nutch's number.
        last_modified: What the server said, epoch ms; 0: nothing.
        args: More of it, such as the error; None: nothing.
    """

    VERSION: ClassVar[int] = 1

    code: int
    last_modified: int = 0
    args: tuple[str | None, ...] | None = None

    @classmethod
    def of_old(cls, code: int) -> Self:
        """Return what 0.7 makes of the byte of 0.6.

        Raises:
            CorruptDataError: There is no such byte.
        """
        if not 0 <= code < len(_OF_OLD):
            raise CorruptDataError(f"there is no status {code}; 0 to {len(_OF_OLD) - 1} are known")
        return cls(code=_OF_OLD[code])

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        cls.check_version(data)
        return cls(
            code=data.read_byte(),
            last_modified=data.read_long(),
            args=data.read_compressed_string_array(),
        )

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.VERSION)
        out.write_byte(self.code)
        out.write_long(self.last_modified)
        out.write_compressed_string_array(self.args)

    @property
    def is_success(self) -> bool:
        """Whether the page came."""
        return self.code == _SUCCESS

    @property
    def is_transient(self) -> bool:
        """Whether it may be otherwise next time."""
        return self.code in _TRANSIENT

    @property
    def is_permanent(self) -> bool:
        """Whether it will be so next time."""
        return self.code in _PERMANENT

    def __str__(self) -> str:
        """Return the words of `toString`."""
        name = _NAMES.get(self.code, "null")
        return f"{name}({self.code}), lastModified={self.last_modified}{_args_text(self.args)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseStatus(VersionedWritable):
    """How a parse ended.

    Attributes:
        major: 0 not parsed, 1 success, 2 failed.
        minor: Why, or with what.
        args: More of it; None: nothing.
    """

    VERSION: ClassVar[int] = 1

    major: int = 0
    minor: int = 0
    args: tuple[str | None, ...] | None = None

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it (`readFields`)."""
        cls.check_version(data)
        return cls(
            major=data.read_byte(),
            minor=data.read_short(),
            args=data.read_compressed_string_array(),
        )

    def write(self, out: DataOutput) -> None:
        """Write it."""
        out.write_byte(self.VERSION)
        out.write_byte(self.major)
        out.write_short(self.minor)
        out.write_compressed_string_array(self.args)

    @property
    def is_success(self) -> bool:
        """Whether the page was parsed."""
        return self.major == 1

    def __str__(self) -> str:
        """Return the words of `toString`."""
        known = 0 <= self.major < len(_MAJORS)
        name = _MAJORS[self.major] if known else "UNKNOWN!"
        return f"{name}({self.major},{self.minor}){_args_text(self.args)}"


PARSED = ParseStatus(major=1)
"""What a record without a status is taken for."""


def _args_text(args: tuple[str | None, ...] | None) -> str:
    if args is not None and len(args) == 1:
        return f": {'null' if args[0] is None else args[0]}"
    named = (f", args[{n}]={arg}" for n, arg in enumerate(args or ()) if arg is not None)
    return "".join(named)
