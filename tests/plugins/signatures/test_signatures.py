"""The signatures beside Nutch's."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

from filbert.model.records import Page, Parse
from filbert.plugins.signatures.md5 import Md5Signature, TextMd5Signature
from filbert.plugins.signatures.text_profile import TextProfileSignature
from filbert.settings.signature import SignatureSettings

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.plugins.contracts import Signature

PREFIX = "db.signature.text_profile."


def _signature(row: dict[str, Any]) -> Signature:
    conf = {name.removeprefix(PREFIX): value for name, value in row["conf"].items()}
    settings = SignatureSettings(
        min_token_len=int(conf.get("min_token_len", 2)),
        quant_rate=float(conf.get("quant_rate", 0.01)),
    )
    kinds: dict[str, Signature] = {
        "MD5Signature": Md5Signature(),
        "TextMD5Signature": TextMd5Signature(),
        "TextProfileSignature": TextProfileSignature(settings),
    }
    return kinds[row["class"]]


def _page(body: bytes = b"", url: str = "http://a/") -> Page:
    return Page(url=url, base_url=url, body=body, content_type="text/html")


def test_signatures_are_those_of_nutch(repository: Path) -> None:
    """Golden table signatures, every row but those in the order of a Java hash map.

    By decision: without a parse text-md5 is that of the content, where Nutch fails.
    """
    count = 0
    with gzip.open(repository / "tests/data/golden/signatures.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            if row["conf"].get(f"{PREFIX}sec_sort_lex") == "false" or "error" in row:
                continue
            count += 1
            page = _page(base64.b64decode(row["content_base64"] or ""), row["url"])
            parse = None if row["text"] is None else Parse(text=row["text"])
            assert _signature(row).calculate(page, parse).hex() == row["result"], row
    assert count > 800


def test_without_text_the_content_counts() -> None:
    """A page without a parse has the signature of its content, and of its URL without that."""
    empty = _page()
    assert TextMd5Signature().calculate(empty, None) == Md5Signature().calculate(empty, None)
    assert Md5Signature().calculate(_page(b"x"), None) != Md5Signature().calculate(empty, None)


def test_a_profile_forgives_small_changes() -> None:
    """Rare words do not change a text-profile; frequent ones do."""
    profile = TextProfileSignature(SignatureSettings(quant_rate=0.1))
    words = "crawler " * 30 + "fetches pages and pages " * 10
    first = profile.calculate(_page(), Parse(text=words + "yesterday"))
    assert first == profile.calculate(_page(), Parse(text=words + "today"))
    assert first != profile.calculate(_page(), Parse(text=words + "robots " * 20))


def test_equal_counts_can_stand_in_the_texts_order() -> None:
    """With sec_sort_lex off, tokens of one count stand as the text has them."""
    settings = SignatureSettings(sec_sort_lex=False, quant_rate=0)
    profile = TextProfileSignature(settings)
    one = profile.calculate(_page(), Parse(text="alpha beta alpha beta"))
    other = profile.calculate(_page(), Parse(text="beta alpha beta alpha"))
    assert one != other
