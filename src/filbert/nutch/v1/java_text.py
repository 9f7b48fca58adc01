"""How Java writes numbers, dates and bytes as text.

Guarantee: the same characters as `Float.toString`, `Double.toString` (since Java 19: the shortest
digits that say the number), `Date.toString` and the date formats that Nutch's readers use, in UTC.
Source: the Java SE 21 API of `Float`, `Double`, `Date`; Nutch `TimingUtil`, `StringUtil`.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache

__all__ = [
    "date_text",
    "days_hms",
    "double_text",
    "float_text",
    "iso_seconds",
    "iso_text",
    "low_bytes",
    "nearest_float",
    "whole_division",
]

_FLOAT = struct.Struct(">f")
_FLOAT_DIGITS, _DOUBLE_DIGITS = 9, 17
_PLAIN_FROM, _PLAIN_TO = -3, 7  # decimal exponents that are written without E
_WEEKDAYS = ("Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed")  # day 0 was a Thursday
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY = 86_400
_GREGORIAN_SINCE = -141_427  # 15 October 1582, in days
_LARGEST_FLOAT = 3.4028234663852886e38
_FIRST_INFINITE = 3.4028235677973366e38  # halfway to what would be the next float


def nearest_float(value: float) -> float:
    """Return the nearest number of 32 bits; what is too large becomes infinite."""
    if abs(value) >= _FIRST_INFINITE:
        return math.copysign(math.inf, value)
    if abs(value) > _LARGEST_FLOAT:
        return math.copysign(_LARGEST_FLOAT, value)
    rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    return rounded


def float_text(value: float) -> str:
    """Return `Float.toString` of a number of 32 bits."""
    if not math.isfinite(value) or value == 0:  # both zeros are one key to a cache
        return _special(value)
    return _float_text(value)


@lru_cache(maxsize=1 << 14)
def _float_text(value: float) -> str:
    for digits in range(2, _FLOAT_DIGITS):
        text = f"{value:.{digits - 1}e}"
        if nearest_float(float(text)) == value:
            return _java_form(text)
    return _java_form(f"{value:.{_FLOAT_DIGITS - 1}e}")


def double_text(value: float) -> str:
    """Return `Double.toString`."""
    if not math.isfinite(value) or value == 0:
        return _special(value)
    for digits in (2, *range(15, _DOUBLE_DIGITS)):
        text = f"{value:.{digits - 1}e}"
        if float(text) == value:
            return _java_form(text)
    return _java_form(f"{value:.{_DOUBLE_DIGITS - 1}e}")


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1, value) < 0 else ""
    return sign + ("0.0" if value == 0 else "Infinity")


def _java_form(text: str) -> str:
    """Make `d.ddde±xx` Java's: plain from 0.001 to below 10,000,000, with at least one decimal."""
    mantissa, _, exponent = text.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "").rstrip("0") or "0"
    power = int(exponent)
    if _PLAIN_FROM <= power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    if 0 <= power < _PLAIN_TO:
        digits = digits.ljust(power + 1, "0")
        return f"{sign}{digits[: power + 1]}.{digits[power + 1 :] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


@lru_cache(maxsize=1 << 12)
def _second_text(second: int) -> str:
    days, rest = divmod(second, _DAY)
    year, month, day = _civil(days)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    shown = year if year > 0 else 1 - year  # Date.toString leaves the era out
    return f"{_WEEKDAYS[days % 7]} {_MONTHS[month - 1]} {day:02} {clock} UTC {shown:04}"


def date_text(millis: int) -> str:
    """Return `Date.toString` of a time in ms, in UTC."""
    return _second_text(millis // 1000)


def _civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day of days since 1970: Julian before 15 October 1582, as in Java."""
    if days >= _GREGORIAN_SINCE:
        shifted = days + 719_468  # since 1 March of year 0
        era, of_era = divmod(shifted, 146_097)
        of_400 = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
        year, of_year = of_400 + 400 * era, of_era - (365 * of_400 + of_400 // 4 - of_400 // 100)
    else:
        shifted = days + 719_470
        era, of_era = divmod(shifted, 1461)
        of_4 = min(of_era // 365, 3)
        year, of_year = of_4 + 4 * era, of_era - 365 * of_4
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    return (year + 1, month - 9, day) if month >= 10 else (year, month + 3, day)


def iso_text(millis: int) -> str:
    """Return a time in ms as `readdb -stats` prints it: `2026-11-30T20:31:00.000+0000`."""
    second, rest = divmod(millis, 1000)
    return f"{_stamp(second, 'T')}.{rest:03}+0000"


def iso_seconds(millis: int, between: str = "T") -> str:
    """Return a time in ms as `2026-11-30T20:31:00`."""
    return _stamp(millis // 1000, between)


def _stamp(second: int, between: str) -> str:
    days, rest = divmod(second, _DAY)
    year, month, day = _civil(days)
    shown = year if year > 0 else 1 - year
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{shown:04}-{month:02}-{day:02}{between}{clock}"


def days_hms(seconds: int) -> str:
    """Return `TimingUtil.secondsToDaysHMS`: `30 days, 00:00:00`; days only if there are some."""
    days = whole_division(seconds, _DAY)
    rest = seconds - days * _DAY
    minutes = whole_division(rest, 60)
    hours = whole_division(minutes, 60)
    clock = f"{hours:02}:{minutes - hours * 60:02}:{rest - minutes * 60:02}"
    return f"{days} days, {clock}" if days else clock


def whole_division(value: int, by: int) -> int:
    """Return a quotient cut to a whole number towards zero, as Java divides."""
    quotient = abs(value) // by
    return quotient if value >= 0 else -quotient


def low_bytes(text: str) -> bytes:
    """Return the low byte of each UTF-16 unit, as `DataOutputStream.writeBytes` writes a string."""
    if text.isascii():
        return text.encode("ascii")
    return text.encode("utf-16-le", "surrogatepass")[::2]
