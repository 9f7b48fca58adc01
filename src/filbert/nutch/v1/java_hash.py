"""Java's hash codes, and the order in which a `HashMap` gives out its keys.

Guarantee: the order of a map that keys were put into one after the other, and none taken out, is
that of Java's; equal hashes keep the order in which they came.
Source: Java `HashMap`, `String.hashCode`; Hadoop `WritableComparator.hashBytes`, `Partitioner`.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from filbert.nutch import simple
from filbert.nutch.data import text_bytes
from filbert.nutch.simple import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from filbert.nutch.writable import Writable

__all__ = ["bytes_hash", "float_bits", "hash_code", "hash_order", "partition", "string_hash"]

_Key = TypeVar("_Key")
_MASK = 0xFFFF_FFFF
_FIRST_CAPACITY, _TREE_CAPACITY, _LONGEST_CHAIN = 16, 64, 8
_FLOAT = struct.Struct(">f")


def bytes_hash(data: bytes) -> int:
    """Return the hash code of a `Text`, from its bytes: 32 bits, unsigned."""
    code = 1
    for byte in data:
        code = (31 * code + byte - (byte >> 7 << 8)) & _MASK
    return code


def string_hash(text: str) -> int:
    """Return the hash code of a `String`: 32 bits, unsigned."""
    code = 0
    if text.isascii():
        for byte in text.encode("ascii"):
            code = (31 * code + byte) & _MASK
        return code
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"):
        code = (31 * code + unit) & _MASK
    return code


def partition(key: bytes, parts: int) -> int:
    """Return the part that Hadoop's `HashPartitioner` gives a `Text` to."""
    return (bytes_hash(key) & 0x7FFF_FFFF) % parts


def hash_order(keys: Collection[_Key], hash_of: Callable[[_Key], int]) -> list[_Key]:
    """Return keys, given in the order they were put in, in the order a `HashMap` has them.

    Args:
        keys: Distinct keys.
        hash_of: Their hash code, 32 bits, unsigned.
    """
    if len(keys) < 2:
        return list(keys)
    spread = []
    for key in keys:
        code = hash_of(key)
        spread.append(code ^ code >> 16)
    mask = _capacity(spread) - 1
    ranked = sorted(zip(spread, keys, strict=True), key=lambda pair: pair[0] & mask)
    return [key for _, key in ranked]


def _capacity(spread: list[int]) -> int:
    """Return how many buckets the map has in the end: it doubles when it is three quarters full.

    A small map doubles also where one bucket grows too long.
    """
    capacity = _FIRST_CAPACITY
    if len(spread) <= _LONGEST_CHAIN:
        return capacity
    chains: dict[int, int] = {}
    for count, code in enumerate(spread, 1):
        if capacity < _TREE_CAPACITY:
            bucket = code & capacity - 1
            chains[bucket] = chains.get(bucket, 0) + 1
            if chains[bucket] > _LONGEST_CHAIN:
                capacity *= 2
                chains = _chains(spread[:count], capacity)
        if count > capacity * 3 // 4:
            capacity *= 2
            chains = _chains(spread[:count], capacity) if capacity < _TREE_CAPACITY else {}
    return capacity


def _chains(spread: list[int], capacity: int) -> dict[int, int]:
    chains: dict[int, int] = {}
    for code in spread:
        chains[code & capacity - 1] = chains.get(code & capacity - 1, 0) + 1
    return chains


def float_bits(value: float) -> int:
    """Return `Float.floatToIntBits`, unsigned."""
    if value != value:  # noqa: PLR0124 - not a number
        return 0x7FC0_0000
    return int.from_bytes(_FLOAT.pack(value), "big")


def hash_code(key: Writable) -> int:
    """Return Java's hash code of a key, 32 bits, unsigned.

    Raises:
        KeyError: Java takes the place in memory, or we do not know.
    """
    return _HASHES[type(key)](key)


@lru_cache(maxsize=1 << 12)
def _text_hash(text: str) -> int:
    return bytes_hash(text_bytes(text))


_HASHES: dict[type[Writable], Callable[..., int]] = {
    Text: lambda key: _text_hash(key.value),
    simple.BytesWritable: lambda key: bytes_hash(key.value),
    simple.IntWritable: lambda key: key.value & 0xFFFF_FFFF,
    simple.VIntWritable: lambda key: key.value & 0xFFFF_FFFF,
    simple.LongWritable: lambda key: key.value & 0xFFFF_FFFF,
    simple.VLongWritable: lambda key: key.value & 0xFFFF_FFFF,
    simple.FloatWritable: lambda key: float_bits(key.value),
    simple.BooleanWritable: lambda key: 0 if key.value else 1,
    simple.NullWritable: lambda _: 0,
    simple.MD5Hash: lambda key: int.from_bytes(key.value[:4], "big"),
}
