"""Listings of FTP servers: every known form, and no bytes that break it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.rules.ftp_listing import FtpEntry, parse_listing

NOW = 1_780_315_200_000  # 2026-06-01T12:00:00Z
MAR_9 = 1_773_057_660_000  # 2026-03-09T12:01:00Z
LAST_NOV = 1_762_689_660_000  # 2025-11-09T12:01:00Z


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        (
            b"drwxr-xr-x    2 ftp      ftp          4096 Mar 09 12:01 pub",
            FtpEntry(name=b"pub", is_folder=True, modified_ms=MAR_9),
        ),
        (
            b"-rw-r--r--    1 ftp      ftp            17 Nov 09 12:01 a b.txt",
            FtpEntry(name=b"a b.txt", is_folder=False, size=17, modified_ms=LAST_NOV),
        ),
        (
            b"-rw-r--r--   1 root  other     531 Jan 29 2025 README",
            FtpEntry(name=b"README", is_folder=False, size=531, modified_ms=1_738_108_800_000),
        ),
        (
            b"lrwxrwxrwx   1 root  root        7 Mar 09 12:01 bin -> usr/bin",
            FtpEntry(name=b"bin", is_folder=False, modified_ms=MAR_9),
        ),
        (
            b"-r--r--r--   1 owner          1803128 Mar 09 12:01 ls-lR.Z",
            FtpEntry(name=b"ls-lR.Z", is_folder=False, size=1803128, modified_ms=MAR_9),
        ),
        (
            b"drwxrwxr-x+ 2 a b 6 2026-03-09 12:01 iso",
            FtpEntry(name=b"iso", is_folder=True, modified_ms=MAR_9),
        ),
        (
            b"03-09-26  12:01PM       <DIR>          pub",
            FtpEntry(name=b"pub", is_folder=True, modified_ms=MAR_9),
        ),
        (
            b"03-09-2026  12:01              1234 a b.exe",
            FtpEntry(name=b"a b.exe", is_folder=False, size=1234, modified_ms=MAR_9),
        ),
        (
            b"+i8388621.48594,m1773057660,r,s280,\tdjb.html",
            FtpEntry(name=b"djb.html", is_folder=False, size=280, modified_ms=MAR_9),
        ),
        (
            b"+i8388621.50690,/,\t514",
            FtpEntry(name=b"514", is_folder=True),
        ),
        (
            b"Type=dir;Modify=20260309120100;Perm=el; pub x",
            FtpEntry(name=b"pub x", is_folder=True, modified_ms=MAR_9),
        ),
        (
            b"-rw-r--r--    1 ftp      ftp            17 Mar 09 12:01 \xe4\xff",
            FtpEntry(name=b"\xe4\xff", is_folder=False, size=17, modified_ms=MAR_9),
        ),
    ],
)
def test_each_form(line: bytes, entry: FtpEntry) -> None:
    """Name, kind, size and date are read out of every form that servers use."""
    assert parse_listing(line + b"\r\n", NOW) == [entry]


@pytest.mark.parametrize(
    "line",
    [
        b"total 12",
        b"drwxr-xr-x 2 ftp ftp 4096 Mar 09 12:01 .",
        b"drwxr-xr-x 2 ftp ftp 4096 Mar 09 12:01 ..",
        b"-rw-r--r-- 1 ftp ftp 4096 Mar 09 12:01 ../../etc/passwd",
        b"type=cdir;modify=20260309120100; /pub",
        b"no listing at all",
        b"-" * 5_000,
    ],
)
def test_what_is_no_entry(line: bytes) -> None:
    """The folder itself, its parent, names with slashes and unknown lines give nothing."""
    assert parse_listing(line, NOW) == []


@pytest.mark.parametrize("date", [b"Feb 30 2025", b"Xyz 09 12:01", b"Mar 09 99:99"])
def test_a_date_of_no_calendar_costs_only_the_date(date: bytes) -> None:
    """The entry is listed all the same."""
    found = parse_listing(b"-rw-r--r-- 1 ftp ftp 1 " + date + b" a", NOW)
    assert found == [FtpEntry(name=b"a", is_folder=False, size=1)]


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(listing: bytes) -> None:
    """No listing raises, and no entry leads out of its folder."""
    assert all(b"/" not in entry.name for entry in parse_listing(listing, NOW))
