"""Java's numbers, dates and hash tables, held against what Java says."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filbert.nutch.simple import (
    BooleanWritable,
    BytesWritable,
    FloatWritable,
    LongWritable,
    MD5Hash,
    NullWritable,
    Text,
)
from filbert.nutch.v1 import java_hash, java_text
from filbert.nutch.v1.score_digest import ScoreDigest

FLOATS = (
    (0.0, "0.0"),
    (-0.0, "-0.0"),
    (1.0, "1.0"),
    (-2.5, "-2.5"),
    (0.1, "0.1"),
    (0.001, "0.001"),
    (0.00099, "9.9E-4"),
    (4.8632748e-4, "4.8632748E-4"),
    (9_999_999.0, "9999999.0"),
    (1e7, "1.0E7"),
    (1.2345678e10, "1.2345678E10"),
    (2_592_000.0, "2592000.0"),
    (1e23, "1.0E23"),
    (2.0**-149, "1.4E-45"),
    (3.4028234663852886e38, "3.4028235E38"),
    (33_554_432.0, "3.3554432E7"),
    (math.inf, "Infinity"),
    (-math.inf, "-Infinity"),
    (math.nan, "NaN"),
)
DOUBLES = (
    (0.0, "0.0"),
    (0.1, "0.1"),
    (0.0020833334419876337, "0.0020833334419876337"),
    (5e-324, "4.9E-324"),
    (2e-3, "0.002"),
    (1e23, "1.0E23"),
    (2e23, "2.0E23"),
    (1.7976931348623157e308, "1.7976931348623157E308"),
    (1.401298464324817e-45, "1.401298464324817E-45"),
    (100.0, "100.0"),
    (12_345_678.9, "1.23456789E7"),
    (-math.inf, "-Infinity"),
)
DATES = (
    (0, "Thu Jan 01 00:00:00 UTC 1970"),
    (-1, "Wed Dec 31 23:59:59 UTC 1969"),
    (1_796_070_747_123, "Mon Nov 30 20:32:27 UTC 2026"),
    (951_782_400_000, "Tue Feb 29 00:00:00 UTC 2000"),
    (-12_219_292_800_000, "Fri Oct 15 00:00:00 UTC 1582"),
    (-12_219_292_800_001, "Thu Oct 04 23:59:59 UTC 1582"),
    (-62_135_769_600_000, "Sat Jan 01 00:00:00 UTC 0001"),
    (253_402_300_800_000, "Sat Jan 01 00:00:00 UTC 10000"),
    (2**63 - 1, "Sun Aug 17 07:12:55 UTC 292278994"),
    (-(2**63), "Sun Dec 02 16:47:04 UTC 292269055"),
)


@pytest.mark.parametrize(("value", "text"), FLOATS)
def test_floats(value: float, text: str) -> None:
    """As `Float.toString` writes them."""
    assert java_text.float_text(java_text.nearest_float(value)) == text


@pytest.mark.parametrize(("value", "text"), DOUBLES)
def test_doubles(value: float, text: str) -> None:
    """As `Double.toString` writes them."""
    assert java_text.double_text(value) == text


@pytest.mark.parametrize(("millis", "text"), DATES)
def test_dates(millis: int, text: str) -> None:
    """As `Date.toString` writes them: Julian before 15 October 1582, years without era."""
    assert java_text.date_text(millis) == text


@settings(deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_text_of_a_float_says_it(value: float) -> None:
    """Read as a number of 32 bits it is the same, and no number of fewer digits is."""
    text = java_text.float_text(value)
    assert java_text.nearest_float(float(text)) == value
    digits = text.lstrip("-").partition("E")[0].replace(".", "").strip("0")
    if len(digits) > 2:
        shorter = float(f"{value:.{len(digits) - 2}e}")
        assert java_text.nearest_float(shorter) != value


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_double_says_it(value: float) -> None:
    """Read as a number it is the same."""
    assert float(java_text.double_text(value)) == value


@given(st.floats())
def test_the_nearest_float(value: float) -> None:
    """It is a number of 32 bits, or infinite beyond their range."""
    nearest = java_text.nearest_float(value)
    if math.isnan(value):
        assert math.isnan(nearest)
    else:
        assert struct.unpack(">f", struct.pack(">f", nearest))[0] == nearest
        assert math.isinf(nearest) == (abs(value) >= 3.4028235677973366e38)


@given(st.dates())
def test_stamps_agree_with_dates(day: object) -> None:
    """Since the Gregorian reform."""
    import datetime as dt

    assert isinstance(day, dt.date)
    if day < dt.date(1582, 10, 15):
        return
    millis = (day.toordinal() - dt.date(1970, 1, 1).toordinal()) * 86_400_000
    assert java_text.iso_text(millis + 1) == f"{day.isoformat()}T00:00:00.001+0000"
    assert java_text.iso_seconds(millis, " ") == f"{day.isoformat()} 00:00:00"
    assert java_text.date_text(millis) == day.strftime("%a %b %d 00:00:00 UTC ") + f"{day.year:04}"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (60, "00:01:00"),
        (86_399, "23:59:59"),
        (86_400, "1 days, 00:00:00"),
        (2_592_000, "30 days, 00:00:00"),
        (-61, "00:-1:-1"),
    ],
)
def test_days_and_hours(seconds: int, text: str) -> None:
    """Nutch never says "1 day"."""
    assert java_text.days_hms(seconds) == text


def test_low_bytes() -> None:
    """Java's `writeBytes` loses the upper half of each UTF-16 unit."""
    assert java_text.low_bytes("aé日") == b"a\xe9\xe5"


@pytest.mark.parametrize(("value", "by", "quotient"), [(7, 2, 3), (-7, 2, -3), (-1, 60, 0)])
def test_whole_division(value: int, by: int, quotient: int) -> None:
    """Towards zero."""
    assert java_text.whole_division(value, by) == quotient


# ------------------------------------------------------------------ hashes


@pytest.mark.parametrize(
    ("text", "code"), [("", 0), ("a", 97), ("hello", 99_162_322), ("Aa", 2112), ("BB", 2112)]
)
def test_hashes_of_strings(text: str, code: int) -> None:
    """As `String.hashCode` has them."""
    assert java_hash.string_hash(text) == code


def test_hashes_of_strings_beyond_ascii() -> None:
    """They go by UTF-16 units."""
    assert java_hash.string_hash("日") == 0x65E5
    assert java_hash.string_hash("𝄞") == (31 * 0xD834 + 0xDD1E) & 0xFFFF_FFFF


def test_hashes_of_keys() -> None:
    """As Hadoop's classes have them."""
    assert java_hash.hash_code(Text("a")) == 31 + 97
    assert java_hash.hash_code(Text("é")) == ((31 + 0xC3 - 256) * 31 + 0xA9 - 256) & 0xFFFF_FFFF
    assert java_hash.hash_code(BytesWritable(b"a")) == 31 + 97
    assert java_hash.hash_code(LongWritable(1 << 32 | 5)) == 5
    assert java_hash.hash_code(FloatWritable(1.0)) == 0x3F80_0000
    assert java_hash.hash_code(BooleanWritable(True)) == 0
    assert java_hash.hash_code(NullWritable()) == 0
    assert java_hash.hash_code(MD5Hash(b"\1\2\3\4" + bytes(12))) == 0x0102_0304


@given(st.lists(st.text(max_size=4), unique=True, max_size=40))
def test_a_map_has_each_key_once(keys: list[str]) -> None:
    """None is lost, and keys of one bucket keep their order."""
    ordered = java_hash.hash_order(keys, java_hash.string_hash)
    assert sorted(ordered) == sorted(keys)


def test_a_map_grows() -> None:
    """With 13 keys it has 32 buckets, so that 16 comes after 1."""
    keys = list(range(1, 13))
    assert java_hash.hash_order([16, *keys[:11]], lambda n: n)[0] == 16
    assert java_hash.hash_order([16, *keys], lambda n: n)[-1] == 16


def test_a_map_grows_when_a_bucket_is_long() -> None:
    """With a ninth key in a bucket of a small map."""
    same = [16 * n for n in range(9)]
    assert java_hash.hash_order(same[:8], lambda n: n) == same[:8]
    assert java_hash.hash_order(same, lambda n: n) == [*same[::2], *same[1::2]]


# ------------------------------------------------------------------ quantiles


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 1000, width=32), min_size=1, max_size=300), st.floats(0, 1), st.booleans()
)
def test_quantiles_lie_among_the_numbers(numbers: list[float], share: float, packed: bool) -> None:
    """Never below the least nor above the most, however few."""
    digest = ScoreDigest()
    for number in numbers:
        digest.add(number)
    if packed:
        digest = digest.packed()
    assert min(numbers) <= digest.quantile(share) <= max(numbers)


def test_quantiles_of_many_numbers() -> None:
    """A good guess in little memory."""
    digest = ScoreDigest()
    for number in range(20_000):
        digest.add(float(number * 7919 % 20_000))
    for share in (0.01, 0.25, 0.5, 0.9, 0.99):
        assert abs(digest.quantile(share) - share * 20_000) < 100
    assert len(digest.packed()._means) < 210


def test_quantiles_of_nothing() -> None:
    """They are no numbers."""
    assert math.isnan(ScoreDigest().quantile(0.5))
    assert math.isnan(ScoreDigest().packed().quantile(0.5))
