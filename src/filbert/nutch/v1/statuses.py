"""How fetching and parsing of a page went: `ProtocolStatus`, `ParseStatus`; versions 1 and 2 read.

Guarantee: reading and writing again gives the same bytes (of version 2); an argument that is null
stays null.
Source: Nutch 1.22 `protocol.ProtocolStatus`, `parse.ParseStatus`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from filbert.nutch.writable import VersionMismatchError, Writable

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["PARSE_STATUS_NAMES", "PROTOCOL_STATUS_NAMES", "ParseStatus", "ProtocolStatus"]

_VERSION = 2
_PROTOCOL_HEAD = struct.Struct(">bbq")
_WITHOUT_ARGS = struct.Struct(">BBqi")
_MOST_KNOWN = 1024
PROTOCOL_STATUS_NAMES: Final = {
    1: "success",
    2: "failed",
    10: "proto_not_found",
    11: "gone",
    12: "moved",
    13: "temp_moved",
    14: "notfound",
    15: "retry",
    16: "exception",
    17: "access_denied",
    18: "robots_denied",
    19: "redir_exceeded",
    20: "notfetching",
    21: "notmodified",
    22: "wouldblock",
    23: "blocked",
}
PARSE_STATUS_NAMES: Final = ("notparsed", "success", "failed")
SUCCESS_REDIRECT: Final = 100


@dataclass(frozen=True, slots=True)
class ProtocolStatus(Writable):
    """What a server, or the lack of one, answered.

    Attributes:
        code: One of `PROTOCOL_STATUS_NAMES`.
        last_modified: What the server said, in ms.
        args: A message or a URL; None: not given.
    """

    code: int = 0
    last_modified: int = 0
    args: tuple[str | None, ...] | None = None

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        at = data.position
        known = _KNOWN.get(data.data[at : at + _WITHOUT_ARGS.size])
        if known is not None and data.left >= _WITHOUT_ARGS.size:
            data.position = at + _WITHOUT_ARGS.size
            return known  # type: ignore[return-value]  # nothing derives from it
        version, code, last_modified = _PROTOCOL_HEAD.unpack_from(
            data.data, data.take(_PROTOCOL_HEAD.size)
        )
        status = cls(code, last_modified, _read_args(data, version))
        if version == _VERSION and status.args is None and len(_KNOWN) < _MOST_KNOWN:
            _KNOWN[status.to_bytes()] = status
        return status

    def write(self, out: DataOutput) -> None:
        """Write version 2."""
        if self.args is None:
            out.data += _WITHOUT_ARGS.pack(_VERSION, self.code & 0xFF, self.last_modified, -1)
            return
        out.write_byte(_VERSION)
        out.write_byte(self.code)
        out.write_long(self.last_modified)
        out.write_string_array(self.args)

    @property
    def name(self) -> str:
        """The code in words; `null` for one that is none, as Nutch prints it."""
        return PROTOCOL_STATUS_NAMES.get(self.code, "null")

    @property
    def message(self) -> str | None:
        """The first argument, if there is one."""
        return self.args[0] if self.args else None

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        shown = f"{self.name}({self.code}), lastModified={self.last_modified}"
        return shown + _args_text(self.args)


_KNOWN: dict[bytes, ProtocolStatus] = {}
"""Statuses without arguments by their bytes: most pages of a crawl have one of a few."""


@dataclass(frozen=True, slots=True)
class ParseStatus(Writable):
    """What parsing came to.

    Attributes:
        major: 0 not parsed, 1 success, 2 failed.
        minor: 100 for a redirect, from 200 on why it failed.
        args: A message or a URL; None: not given.
    """

    major: int = 0
    minor: int = 0
    args: tuple[str | None, ...] | None = None

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        version = data.read_byte()
        major, minor = data.read_byte(), data.read_short()
        return cls(major, minor, _read_args(data, version))

    def write(self, out: DataOutput) -> None:
        """Write version 2."""
        out.write_byte(_VERSION)
        out.write_byte(self.major)
        out.write_short(self.minor)
        out.write_string_array(self.args)

    @property
    def is_success(self) -> bool:
        """The page was parsed."""
        return self.major == 1

    @property
    def name(self) -> str:
        """The major code in words."""
        known = 0 <= self.major < len(PARSE_STATUS_NAMES)
        return PARSE_STATUS_NAMES[self.major] if known else "UNKNOWN!"

    @property
    def message(self) -> str | None:
        """The first argument, if there is one."""
        return self.args[0] if self.args else None

    def __str__(self) -> str:
        """Return Nutch's text of it."""
        return f"{self.name}({self.major},{self.minor})" + _args_text(self.args)


def _read_args(data: DataInput, version: int) -> tuple[str | None, ...] | None:
    if version == 1:
        return data.read_compressed_string_array()
    if version != _VERSION:
        raise VersionMismatchError(_VERSION, version)
    return data.read_string_array()


def _args_text(args: tuple[str | None, ...] | None) -> str:
    if args is None:
        return ""
    if len(args) == 1:
        return f": {'null' if args[0] is None else args[0]}"
    return "".join(f", args[{number}]={arg}" for number, arg in enumerate(args) if arg is not None)
