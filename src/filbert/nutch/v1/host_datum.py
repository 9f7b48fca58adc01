"""What a crawl knows of a host: `HostDatum`, the record of a HostDb.

Guarantee: reading and writing again gives the same bytes.
Source: Nutch 1.22 `hostdb.HostDatum`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from filbert.errors import UserError
from filbert.nutch.v1.java_text import float_text, iso_seconds
from filbert.nutch.v1.map_writable import EMPTY, MapWritable, java_string
from filbert.nutch.writable import Writable

if TYPE_CHECKING:
    from filbert.nutch.data import DataInput, DataOutput

__all__ = ["CURRENT_NAME", "HostDatum"]

CURRENT_NAME: Final = "current"
_COUNTS = struct.Struct(">8i")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDatum(Writable):
    """Counts and score of one host.

    Attributes:
        score: A number of 32 bits.
        last_check: When its name was last looked up, in ms; 0: never.
        homepage_url: Its home page; blank: unknown.
        dns_failures, connection_failures: How often it could not be found, or reached.
        unfetched, fetched, not_modified, redir_temp, redir_perm, gone: Pages of each kind.
        metadata: What else is known.
    """

    score: float = 0.0
    last_check: int = 0
    homepage_url: str = ""
    dns_failures: int = 0
    connection_failures: int = 0
    unfetched: int = 0
    fetched: int = 0
    not_modified: int = 0
    redir_temp: int = 0
    redir_perm: int = 0
    gone: int = 0
    metadata: MapWritable = EMPTY

    @classmethod
    def read(cls, data: DataInput) -> Self:
        """Read it."""
        score, last_check, homepage = data.read_float(), data.read_long(), data.read_text()
        counts = [data.read_int() for _ in range(8)]
        return cls(
            score=score,
            last_check=last_check,
            homepage_url=homepage,
            dns_failures=counts[0],
            connection_failures=counts[1],
            unfetched=counts[2],
            fetched=counts[3],
            not_modified=counts[4],
            redir_temp=counts[5],
            redir_perm=counts[6],
            gone=counts[7],
            metadata=MapWritable.read_in(data, tail=True),
        )

    def write(self, out: DataOutput) -> None:
        """Write it.

        Raises:
            UserError: A number is beyond its range.
        """
        try:
            out.write_float(self.score)
            out.write_long(self.last_check)
            out.write_text(self.homepage_url)
            out.data += _COUNTS.pack(
                self.dns_failures,
                self.connection_failures,
                self.unfetched,
                self.fetched,
                self.not_modified,
                self.redir_temp,
                self.redir_perm,
                self.gone,
            )
        except (struct.error, OverflowError) as error:
            raise UserError(f"a HostDatum cannot be written: {error}") from None
        self.metadata.write(out)

    @property
    def records(self) -> int:
        """How many pages are known."""
        pages = self.unfetched + self.fetched + self.gone
        return pages + self.redir_perm + self.redir_temp + self.not_modified

    @property
    def failures(self) -> int:
        """How often it could not be found or reached."""
        return self.dns_failures + self.connection_failures

    def __str__(self) -> str:
        """Return Nutch's text of it: fields with tabs between."""
        pairs = (f"{java_string(k)}:{java_string(v)}|||" for k, v in self.metadata.items())
        fields = (
            self.unfetched,
            self.fetched,
            self.gone,
            self.redir_temp,
            self.redir_perm,
            self.not_modified,
            self.records,
            self.dns_failures,
            self.connection_failures,
            self.failures,
            float_text(self.score),
            iso_seconds(self.last_check, " "),
            self.homepage_url,
            "".join(pairs),
        )
        return "\t".join(map(str, fields))
