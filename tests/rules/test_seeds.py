"""Seed files: every line ends as a seed, as nothing, or as a reason."""

from __future__ import annotations

import pytest

from filbert.rules.seeds import (
    BadLine,
    Line,
    Seed,
    is_url,
    lines_of,
    no_place,
    parse_line,
    private_endpoint,
)


def texts(*chunks: bytes) -> list[bytes | None]:
    """The lines of a file that is read in these chunks."""
    return [line.raw for line in lines_of(chunks)]


def parsed(text: str) -> Seed | BadLine | None:
    """What a line of text is."""
    return parse_line(Line(number=1, raw=text.encode()))


@pytest.mark.parametrize(
    ("chunks", "wanted"),
    [
        ([b""], []),
        ([b"a\nb"], [b"a", b"b"]),
        ([b"a\r\nb\r\n"], [b"a", b"b"]),
        ([b"a\r", b"\nb"], [b"a", b"b"]),  # a line end cut in two by a chunk
        ([b"a\rb\r"], [b"a", b"b"]),
        ([b"a\n\nb\n"], [b"a", b"", b"b"]),
        ([b"\xef\xbb\xbfa\n"], [b"a"]),
        (["\ufeffä\nb\n".encode("utf-16-le")], ["ä".encode(), b"b"]),
        (["\ufeffä\nb".encode("utf-16-be")], ["ä".encode(), b"b"]),
        ([b"ab", b"c\n", b"d"], [b"abc", b"d"]),
    ],
)
def test_lines(chunks: list[bytes], wanted: list[bytes]) -> None:
    """LF, CRLF and CR end a line; byte order marks and UTF-16 are understood."""
    assert texts(*chunks) == wanted


def test_a_line_of_a_megabyte_is_no_seed_and_costs_no_other() -> None:
    """A line that is too long is reported, and the lines around it are read."""
    chunks = [b"http://a/\n", *[b"x" * 65_536] * 16, b"\r\nhttp://b/"]

    assert texts(*chunks) == [b"http://a/", None, b"http://b/"]
    assert [line.number for line in lines_of(chunks)] == [1, 2, 3]
    assert parse_line(Line(number=2, raw=None)) == BadLine(
        reason="too_long", detail="longer than 65,536 bytes"
    )


def test_metadata() -> None:
    """Reserved names set score and intervals, all others are metadata; Nutch's D1."""
    seed = parsed(
        "  http://a.org/ \tnutch.score=2.5\tnutch.fetchInterval=3600\tcolour=dark green\tk=a=b"
    )

    assert seed == Seed(
        url="http://a.org/",
        score=2.5,
        fetch_interval=3600,
        metadata={"colour": "dark green", "k": "a=b"},
    )


def test_a_fixed_interval_is_the_interval_too() -> None:
    """`nutch.fetchInterval.fixed` wins over `nutch.fetchInterval`."""
    seed = parsed("http://a.org/\tnutch.fetchInterval=5\tnutch.fetchInterval.fixed=86400")

    assert seed == Seed(url="http://a.org/", fetch_interval=86400, fixed_interval=86400)


@pytest.mark.parametrize(
    "entry",
    [
        "nutch.score=much",
        "nutch.score=nan",
        "nutch.score=1e60",
        "nutch.fetchInterval=1.5",
        "nutch.fetchInterval=-1",
        "nutch.fetchInterval.fixed=99999999999",
        "no equals sign",
    ],
)
def test_bad_metadata_costs_only_itself(entry: str) -> None:
    """An entry that cannot be read is reported and left out; the URL is a seed all the same."""
    seed = parsed(f"http://a.org/\t{entry}\tk=v")

    assert isinstance(seed, Seed)
    assert [note.reason for note in seed.notes] == ["metadata"]
    assert (seed.score, seed.fetch_interval, seed.metadata) == (None, None, {"k": "v"})


@pytest.mark.parametrize("text", ["", "   ", "# http://a/", "  #", "\tk=v"])
def test_blank_lines_and_comments(text: str) -> None:
    """They are nothing at all."""
    assert parsed(text) is None


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"www.example.org", "no_scheme"),
        (b"example.org:8080/x", "no_scheme"),
        (b"localhost:8080", "no_scheme"),
        (b"mailto:a@b.org", "unknown_scheme"),
        (b"http://a.org/ nutch.score=2", "blank_for_tab"),
        (b"http://caf\xe9.org/", "not_utf8"),
    ],
)
def test_bad_lines_say_why(raw: bytes, reason: str) -> None:
    """Each bad line has a reason that can be counted."""
    bad = parse_line(Line(number=7, raw=raw))

    assert isinstance(bad, BadLine)
    assert bad.reason == reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http:/", "no_host"),
        ("https://:80/", "no_host"),
        ("http://a.org:65536/", "no_port"),
        ("http://a.org:65535/", None),
        ("http://[::1]:80/", None),
        ("file:/srv/pages/", None),
        ("http://x y.test/", "no_host"),
        ("http://a|b.test/", "no_host"),
        ("http://a_b.test/", None),
        ("http://m\u00fcller.test/", None),
        ("http://0x7f000001/", None),
    ],
)
def test_a_seed_names_a_server(url: str, reason: str | None) -> None:
    """A URL that no server can be asked for is no seed; a file needs none."""
    bad = no_place(url)

    assert (bad and bad.reason) == reason


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("http://localhost:8080/a", "localhost:8080"),
        ("https://LocalHost/", "localhost:443"),
        ("http://127.0.0.1/", "127.0.0.1:80"),
        ("http://192.168.7.9:81/", "192.168.7.9:81"),
        ("http://[::1]:9/", "[::1]:9"),
        ("http://wiki/", "wiki:80"),
        ("http://a.b.test/", "a.b.test:80"),
        ("http://printer.local/", "printer.local:80"),
        ("http://169.254.169.254/latest", "169.254.169.254:80"),
        ("http://127.1:8299/", "127.0.0.1:8299"),
        ("http://0x7f000001/", "127.0.0.1:80"),
        ("http://2130706433/", "127.0.0.1:80"),
        ("http://0x08080808/", None),
        ("http://localhost.:81/", "localhost:81"),
        ("http://x y.test/", None),
        ("http://8.8.8.8/", None),
        ("http://example.org/", None),
        ("http://localhost.example.org/", None),
        ("http://test.org/", None),
        ("nonsense", None),
    ],
)
def test_local_addresses_are_known_by_their_text(url: str, endpoint: str | None) -> None:
    """A seed opens the guard only for a host that names the local machine or network."""
    assert private_endpoint(url) == endpoint


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("http://a/", True), ("HTTPS://a/", True), ("seeds.txt", False), ("C:/seeds", False)],
)
def test_arguments(text: str, *, wanted: bool) -> None:
    """An argument with a scheme is a seed, any other the path of a file."""
    assert is_url(text) == wanted
