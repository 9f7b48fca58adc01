"""What all schedules share, as SQL: gone pages, forced refetching, and Java's arithmetic.

Guarantee: intervals and times are those of Nutch's classes to the millisecond, float32 arithmetic
and rounding included.
Source: Nutch `AbstractFetchSchedule`, `CrawlDatum.setFetchInterval`.
"""

from __future__ import annotations

import struct

from filbert.rules.sql import literal

__all__ = ["DAY_MS", "float32", "gone_interval", "real", "refetch_interval", "whole"]

DAY_MS = 86_400_000
_INT_MAX = 2**31 - 1


def float32(value: float) -> float:
    """Return the float32 nearest to `value`."""
    (nearest,) = struct.unpack("<f", struct.pack("<f", value))
    return float(nearest)


def real(value: float) -> str:
    """Return a SQL literal of type float (32 bits)."""
    return f"cast({literal(float32(value))} as float)"


def whole(sql: str) -> str:
    """Round a float to int as Java does: halves upwards, kept within 32 bits."""
    rounded = f"floor(cast({sql} as double) + cast('0.5' as double))"
    return f"cast(least({rounded}, cast('{_INT_MAX}' as double)) as int)"


def gone_interval(interval: str, max_s: int) -> str:
    """Interval of a page that is gone: half as long again, below the greatest.

    Source: `setPageGoneSchedule`.
    """
    longer = f"cast({interval} as float) * {real(1.5)}"
    return f"case when {longer} < {real(max_s)} then {whole(longer)} else {_nearly(max_s)} end"


def refetch_interval(interval: str, max_s: int) -> str:
    """Interval of a page that is refetched by force: not above the greatest.

    Source: `forceRefetch`, `shouldFetch`.
    """
    return f"case when {interval} > {max_s} then {_nearly(max_s)} else {interval} end"


def _nearly(max_s: int) -> str:
    product = float32(float32(max_s) * float32(0.9))
    return literal(int(product + 0.5))
