r"""What the lines of an FTP server's LIST say.

Guarantee: total: any bytes give entries, at most one a line; a line of no known form gives none.
Names stay bytes, as the server spells them. No I/O; the year that Unix listings leave out is
guessed from `now`.

| form | example |
|---|---|
| Unix (`ls -l`) | `drwxr-xr-x 2 ftp ftp 4096 Mar 09 12:01 pub` |
| DOS (IIS) | `03-09-26  12:01PM  <DIR>  pub` |
| EPLF | `+m1773057660,/,\tpub` |
| MLSD (RFC 3659) | `type=dir;modify=20260309120100; pub` |

Source: what commons-net's `DefaultFTPFileEntryParserFactory` knows, as Nutch uses it; RFC 3659;
https://cr.yp.to/ftp/list/eplf.html.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FtpEntry", "parse_listing"]

_UNIX = re.compile(
    rb"([bcdlps-])[-rwxsStTlL]{9}[+.@]?\s+(?:\d+\s+)?(?:\S+\s+){0,3}?(\d+)\s+"
    rb"([A-Za-z]{3}\s+\d{1,2}\s+(?:\d{1,2}:\d{2}|\d{4})|\d{4}-\d{2}-\d{2}\s+\d{1,2}:\d{2})\s(.+)"
)
_DOS = re.compile(
    rb"(\d{2}-\d{2}-(?:\d{4}|\d{2}))\s+(\d{2}:\d{2}(?:[AaPp][Mm])?)\s+(<DIR>|\d+)\s+(.+)"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NOT_LISTED = frozenset({b".", b".."})
_LONGEST_LINE = 4_096
# A clock that is ahead of ours by less is no file of last year.
_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FtpEntry:
    """One entry of a folder.

    Attributes:
        name: As the server spells it.
        is_folder: It is one; a symbolic link is not, since the listing cannot tell.
        size: Bytes; None: not said.
        modified_ms: When it was changed, epoch ms; None: not said. Servers rarely say the zone:
            UTC is assumed.
    """

    name: bytes
    is_folder: bool
    size: int | None = None
    modified_ms: int | None = None


def parse_listing(listing: bytes, now: int) -> list[FtpEntry]:
    """Return the entries of a listing, in its order, `.` and `..` left out."""
    return list(_entries(listing, now))


def _entries(listing: bytes, now: int) -> Iterator[FtpEntry]:
    for line in listing.replace(b"\r\n", b"\n").split(b"\n"):
        if not line or len(line) > _LONGEST_LINE:
            continue
        entry = _unix(line, now) or _dos(line) or _eplf(line) or _mlsd(line)
        if entry is not None and entry.name not in _NOT_LISTED and b"/" not in entry.name:
            yield entry


def _unix(line: bytes, now: int) -> FtpEntry | None:
    found = _UNIX.fullmatch(line)
    if found is None:
        return None
    kind, size, date, name = found.groups()
    if kind == b"l":
        name = name.partition(b" -> ")[0]
    is_folder = kind == b"d"
    return FtpEntry(
        name=name,
        is_folder=is_folder,
        size=int(size) if kind == b"-" else None,
        modified_ms=_unix_date(date.decode("ascii"), now),
    )


def _unix_date(text: str, now: int) -> int | None:
    """Return `Mar 09 12:01`, `Mar 09 2025` or `2025-03-09 12:01` in ms."""
    if text[0].isdigit():
        return _moment(text, "%Y-%m-%d %H:%M")
    month, day, last = text.split()
    if month.lower() not in _MONTHS:
        return None
    numbers = f"{_MONTHS.index(month.lower()) + 1} {day}"
    if ":" not in last:
        return _moment(f"{last} {numbers}", "%Y %m %d")
    today = datetime.fromtimestamp(now / 1000, UTC)
    moment = _moment(f"{today.year} {numbers} {last}", "%Y %m %d %H:%M")
    if moment is None or moment > (today + _AHEAD).timestamp() * 1000:
        return _moment(f"{today.year - 1} {numbers} {last}", "%Y %m %d %H:%M")
    return moment


def _dos(line: bytes) -> FtpEntry | None:
    found = _DOS.fullmatch(line)
    if found is None:
        return None
    date, time, size, name = (part.decode("latin-1") for part in found.groups())
    year = "%Y" if len(date) == len("03-09-2026") else "%y"
    hours = "%I:%M%p" if time[-1].isalpha() else "%H:%M"
    is_folder = size == "<DIR>"
    return FtpEntry(
        name=name.encode("latin-1"),
        is_folder=is_folder,
        size=None if is_folder else int(size),
        modified_ms=_moment(f"{date} {time}", f"%m-%d-{year} {hours}"),
    )


def _eplf(line: bytes) -> FtpEntry | None:
    facts, tab, name = line.partition(b"\t")
    if not facts.startswith(b"+") or not tab or not name:
        return None
    said = {fact[:1]: fact[1:] for fact in facts[1:].split(b",") if fact}
    size, modified = said.get(b"s", b""), said.get(b"m", b"")
    return FtpEntry(
        name=name,
        is_folder=b"/" in said,
        size=int(size) if size.isdigit() else None,
        modified_ms=int(modified) * 1000 if modified.isdigit() and len(modified) < 12 else None,
    )


def _mlsd(line: bytes) -> FtpEntry | None:
    facts, blank, name = line.partition(b" ")
    if b"=" not in facts or not facts.endswith(b";") or not blank or not name:
        return None
    pairs = (fact.partition(b"=") for fact in facts[:-1].lower().split(b";"))
    said = {key: value for key, _, value in pairs}
    kind, size = said.get(b"type", b"file"), said.get(b"size", b"")
    if kind in {b"cdir", b"pdir"}:
        return None
    return FtpEntry(
        name=name,
        is_folder=kind == b"dir",
        size=int(size) if size.isdigit() else None,
        modified_ms=_moment(said.get(b"modify", b"").decode("latin-1")[:14], "%Y%m%d%H%M%S"),
    )


def _moment(text: str, form: str) -> int | None:
    """Return a date of the calendar in ms; None if no calendar has it."""
    try:
        return round(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
