"""Dates as web servers and pages write them.

Guarantee: a text is read by the first style that fits, or is None. As in Nutch a day beyond its
month runs on into the next. A year of two digits is 1970 to 2069; Nutch takes it, in styles that
have four, for the first century, and reads `17.05.2024` as a day of the year 22.
Source: Nutch `MoreIndexingFilter`, `date-styles.txt`; RFC 9110 section 5.6.7.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache

__all__ = ["parse_date"]

_STYLES = (
    "EEE, dd MMM yyyy HH:mm:ss zzz",
    "EEE, dd-MMM-yy HH:mm:ss zzz",
    "EEE MMM dd HH:mm:ss yyyy",
    "EEE MMM dd HH:mm:ss yyyy zzz",
    "EEE MMM dd HH:mm:ss zzz yyyy",
    "EEE, MMM dd HH:mm:ss yyyy zzz",
    "EEE, dd MMM yyyy HH:mm:ss",
    "yyyy/MM/dd HH:mm:ss.SSS zzz",
    "yyyy/MM/dd HH:mm:ss.SSS",
    "yyyy/MM/dd HH:mm:ss zzz",
    "yyyy/MM/dd HH:mm:ss",
    "yyyy/MM/dd",
    "yyyy.MM.dd HH:mm:ss",
    "yyyy-MM-dd HH:mm",
    "yyyy-MM-ddTHH:mm:sszzz",
    "yyyy-MM-ddTHH:mm:ss",
    "MMM dd yyyy HH:mm:ss. zzz",
    "MMM dd yyyy HH:mm:ss zzz",
    "dd.MM.yyyy HH:mm:ss zzz",
    "dd MM yyyy HH:mm:ss zzz",
    "dd.MM.yyyy; HH:mm:ss",
    "dd.MM.yyyy HH:mm:ss",
    "dd.MM.yyyy zzz",
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ZONES = {  # hours from UTC, of the names that RFC 822 has and of Europe's
    "gmt": 0, "utc": 0, "ut": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7,
    "mdt": -6, "pst": -8, "pdt": -7, "wet": 0, "west": 1, "cet": 1, "cest": 2, "met": 1, "eet": 2,
    "eest": 3, "msk": 3, "jst": 9, "bst": 1,
}  # fmt: skip
_FIELDS = {
    "EEE": r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?",
    "yyyy": r"(?P<year>\d{4}|\d\d)",
    "yy": r"(?P<year>\d{4}|\d\d)",
    "MMM": r"(?P<month_name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*",
    "MM": r"(?P<month>\d{1,2})",
    "dd": r"(?P<day>\d{1,2})",
    "HH": r"(?P<hour>\d{1,2})",
    "mm": r"(?P<minute>\d{1,2})",
    "SSS": r"(?P<milli>\d{1,3})",
    "ss": r"(?P<second>\d{1,2})",
    "zzz": r"(?P<zone>[a-z]{1,5}|(?:gmt|utc)?[+-]\d\d:?\d\d)",
}
_FIELD = re.compile("|".join(_FIELDS))


def parse_date(text: str) -> int | None:
    """Return a date as epoch milliseconds, UTC if it names no zone; None if no style fits."""
    folded = " ".join(text.lower().split())
    for style in _patterns():
        found = style.fullmatch(folded)
        if found is not None:
            return _epoch_ms({key: value for key, value in found.groupdict().items() if value})
    return None


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_pattern(style)) for style in _STYLES)


def _pattern(style: str) -> str:
    parts, end = [], 0
    for field in _FIELD.finditer(style):
        parts += [_literal(style[end : field.start()]), _FIELDS[field.group()]]
        end = field.end()
    return "".join([*parts, _literal(style[end:])])


def _literal(text: str) -> str:
    return re.escape(text.lower()).replace(r",\ ", r",\ ?")


def _epoch_ms(parts: dict[str, str]) -> int | None:
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 2000 if year < 70 else 1900
    named = parts.get("month_name")
    month = _MONTHS.index(named) + 1 if named else int(parts["month"])
    try:
        moment = datetime(year, month, 1, tzinfo=UTC) + timedelta(
            days=int(parts["day"]) - 1,
            hours=int(parts.get("hour", 0)),
            minutes=int(parts.get("minute", 0)) - _zone_minutes(parts.get("zone", "")),
            seconds=int(parts.get("second", 0)),
            milliseconds=int(parts.get("milli", 0)),
        )
    except (ValueError, OverflowError, KeyError):
        return None
    return round(moment.timestamp() * 1000)


def _zone_minutes(zone: str) -> int:
    """Return minutes east of UTC; KeyError for a name that nobody knows."""
    offset = re.fullmatch(r"(?:gmt|utc)?([+-])(\d\d):?(\d\d)", zone)
    if offset is None:
        return 60 * _ZONES[zone] if zone else 0
    minutes = int(offset[2]) * 60 + int(offset[3])
    return -minutes if offset[1] == "-" else minutes
