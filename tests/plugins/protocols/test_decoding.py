"""Content decoding: within limits, never raising, and what came before damage is kept."""

from __future__ import annotations

import gzip
import random
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from filbert.plugins.protocols.decoding import codings_of, decode

TEXT = b"".join(b"<p>%d %d</p>" % (n, n * n) for n in range(20_000))
LIMIT = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    """Return a raw RFC 1951 stream."""
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


CODED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT),
    "deflate": zlib.compress(TEXT),
    "br": brotli.compress(TEXT),
    "zstd": zstandard.compress(TEXT),
}


@pytest.mark.parametrize("name", CODED)
def test_whole_bodies(name: str) -> None:
    """Each coding is undone; only those that every archive reader knows are clean."""
    got = decode(CODED[name], (name,), LIMIT)
    assert (got.body, got.cut, got.ended) == (TEXT, False, True)
    assert got.clean == (name in {"gzip", "x-gzip", "deflate"})


@pytest.mark.parametrize("name", CODED)
def test_cut_bodies_keep_what_came(name: str) -> None:
    """A stream without its end gives the beginning of the body and says so."""
    got = decode(CODED[name][: len(CODED[name]) * 2 // 3], (name,), LIMIT)
    assert TEXT.startswith(got.body)
    assert len(got.body) > 100
    assert (got.clean, got.ended) == (False, False)


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_damaged_bodies_keep_what_came_before(name: str) -> None:
    """Bytes before the damage are not lost."""
    damaged = bytearray(CODED[name])
    damaged[len(damaged) // 2 : len(damaged) // 2 + 40] = b"\xff" * 40
    got = decode(bytes(damaged), (name,), LIMIT)
    assert len(got.body) > 1_000
    assert got.body[:1_000] == TEXT[:1_000]
    assert not got.clean


@pytest.mark.parametrize("name", CODED)
@pytest.mark.parametrize("limit", [0, 1, 999, len(TEXT) - 1])
def test_the_limit_holds_for_what_comes_out(name: str, limit: int) -> None:
    """A bomb gives the limit and not a byte more."""
    got = decode(CODED[name], (name,), limit)
    assert (got.body, got.cut, got.clean) == (TEXT[:limit], True, False)
    assert decode(CODED[name], (name,), len(TEXT)).cut is False


@pytest.mark.parametrize("name", [*CODED, "utf-8", "sdch"])
def test_what_is_not_coded_as_claimed_is_the_body(name: str) -> None:
    """Plain bytes under any claim are kept."""
    got = decode(b"<html>plain</html>", (name,), LIMIT)
    assert (got.body, got.clean) == (b"<html>plain</html>", False)


def test_variants() -> None:
    """Several members, junk behind the stream, raw deflate, gzip under deflate, two codings."""
    member = gzip.compress(TEXT)
    assert decode(member + member, ("gzip",), LIMIT).body == TEXT * 2
    got = decode(member + b"junk", ("gzip",), LIMIT)
    assert (got.body, got.clean, got.ended) == (TEXT, False, True)
    assert decode(raw_deflate(TEXT), ("deflate",), LIMIT).body == TEXT
    assert decode(member, ("deflate",), LIMIT).body == TEXT
    assert decode(gzip.compress(member), ("gzip", "gzip"), LIMIT).body == TEXT
    assert decode(b"", ("gzip",), LIMIT).body == b""


def test_bombs_in_bombs() -> None:
    """Layers do not multiply past the limit."""
    bomb = gzip.compress(gzip.compress(bytes(10 << 20)))
    assert len(decode(bomb, ("gzip", "gzip"), 1_000).body) <= 1_000


def test_codings_of() -> None:
    """Names are split, lowered, and those that do nothing are dropped."""
    assert codings_of("GZIP, identity ,br") == ("gzip", "br")
    assert codings_of(None) == ()


@given(st.binary(max_size=300), st.sampled_from(sorted(CODED)), st.integers(0, 500))
def test_noise_never_raises(data: bytes, name: str, limit: int) -> None:
    """Whatever comes, something within the limit goes out."""
    assert len(decode(data, (name,), limit).body) <= limit


def test_damage_anywhere_never_raises() -> None:
    """Streams with random damage give something within the limit."""
    rng = random.Random(1)
    for _ in range(60):
        name = rng.choice(sorted(CODED))
        data = bytearray(CODED[name])
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        assert len(decode(bytes(data), (name,), 5_000).body) <= 5_000
