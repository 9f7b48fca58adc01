"""What was left out of damaged files, so that it can be told.

Guarantee: each place once, however often a file was read, in the order in which they were found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Damage", "Skipped"]

_SHOWN = 20


class Skipped(NamedTuple):
    """A place that was left out.

    Attributes:
        position: The byte where reading failed.
        reason: Why; it names the file.
        length: Bytes from there to where reading went on; 0: one record of a block, or none.
        is_rest: Nothing of the file came behind it.
    """

    position: int
    reason: str
    length: int = 0
    is_rest: bool = False

    def __str__(self) -> str:
        """Return it as a line for a person."""
        size = f"{self.length:,} bytes " if self.length else ""
        rest = ", to the end of the file" if self.is_rest else ""
        return f"left out {size}from byte {self.position}{rest}: {self.reason}"


class Damage:
    """Takes the places that readers leave out. Who gives one to a reader wants it to go on."""

    def __init__(self) -> None:
        self._places: dict[Skipped, None] = {}

    def add(self, places: Iterable[Skipped]) -> None:
        """Take places; those that are known already change nothing."""
        self._places.update(dict.fromkeys(places))

    def __iter__(self) -> Iterator[Skipped]:
        """Yield the places."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def lines(self) -> Iterator[str]:
        """Yield a line for each of the first places, and one that counts the rest."""
        for number, place in enumerate(self):
            if number == _SHOWN:
                yield f"… {len(self) - _SHOWN:,} more places were left out"
                return
            yield str(place)
