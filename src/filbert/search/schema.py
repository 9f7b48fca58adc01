"""The fields of the embedded index, and how it is opened.

Guarantee: an index made by another version of these fields is refused, with the way out; one that
lies where nothing can be written is read as any other. Every
page has one document whose key is its URL. One more document, the *memory*, holds what the index
has absorbed; it is replaced in the same commit as the pages, so the two never disagree.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import tantivy

from filbert.errors import DataError

__all__ = [
    "KIND",
    "MEMORY",
    "PAGE",
    "PAIR_FIELDS",
    "RECORD",
    "SITE",
    "STEM_FIELD",
    "WORD_FIELDS",
    "create_index",
    "index_exists",
    "open_index",
    "split_words",
    "stem_words",
]

VERSION = 1

KIND, PAGE, MEMORY = "kind", "page", "memory"
SITE, LANGUAGE, URL = "site", "lang", "url"
BOOST, TIME, RECORD = "boost", "tstamp", "record"
WORD_FIELDS = ("title", "anchor", "url_words", "host_words", "text")
PAIR_FIELDS = ("title_pairs", "anchor_pairs", "text_pairs")
STEM_FIELD = "text_stems"  # title and text of English pages

_TERM_LIMIT = 120  # longer "words" are base64 and the like: not worth a term
_WORD = r"[\p{L}\p{N}\p{M}]+"
_NO_LOCK = "Failed to acquire Lockfile"
_CREATE_HINT = "make it anew with `filbert index CRAWL_DIR --rebuild`"


def _analyzer(*, stem: bool = False) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_WORD))
    builder = builder.filter(tantivy.Filter.remove_long(_TERM_LIMIT))
    if stem:
        builder = builder.filter(tantivy.Filter.stemmer("english"))
    return builder.build()


_WORDS = _analyzer()
_STEMS = _analyzer(stem=True)


def split_words(folded: str) -> list[str]:
    """Return the words of folded text, as the word fields hold them."""
    words: list[str] = _WORDS.analyze(folded)
    return words


def stem_words(folded: str) -> list[str]:
    """Return the English stems of folded text, as the stem field holds them."""
    stems: list[str] = _STEMS.analyze(folded)
    return stems


def word_spans(text: str) -> list[tuple[str, int, int]]:
    """Return each word of unfolded text with where it begins and ends."""
    tokens = _WORDS.pre_tokenize(text).tokens
    return [(token.text, token.char_offset_from, token.char_offset_to) for token in tokens]


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in (URL, KIND, SITE, LANGUAGE):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in WORD_FIELDS:
        builder.add_text_field(name, tokenizer_name="words")
    for name in PAIR_FIELDS:
        builder.add_text_field(name, tokenizer_name="pairs")
    builder.add_text_field(STEM_FIELD, tokenizer_name="stems")
    builder.add_float_field(BOOST, fast=True)
    builder.add_integer_field(TIME, fast=True)
    builder.add_bytes_field(RECORD, stored=True)
    return builder.build()


def _register(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer("words", _WORDS)
    index.register_tokenizer("stems", _STEMS)
    pairs = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("pairs", pairs)
    return index


def index_exists(path: Path) -> bool:
    """Say whether there is an index at `path`."""
    return path.is_dir() and bool(tantivy.Index.exists(str(path)))


def create_index(path: Path) -> tantivy.Index:
    """Open the index at `path`, making it if there is none.

    Raises:
        DataError: There is one that this version cannot write.
    """
    if index_exists(path):
        return open_index(path)
    path.mkdir(parents=True, exist_ok=True)
    marker = path / "filbert-index-version"
    marker.write_text(f"{VERSION}\n", encoding="utf-8")
    return _register(tantivy.Index(_schema(), path=str(path)))


def open_index(path: Path) -> tantivy.Index:
    """Open the index at `path`.

    Raises:
        DataError: It is damaged, or made by another version of filbert.
    """
    marker = path / "filbert-index-version"
    found = marker.read_text(encoding="utf-8").strip() if marker.is_file() else "none"
    if found != str(VERSION):
        message = f"the index at {path} has version {found}; this filbert reads version {VERSION}"
        raise DataError(message, hint=_CREATE_HINT)
    try:
        return _register(_opened(path))
    except (ValueError, OSError) as error:
        raise DataError(f"the index at {path} is damaged: {error}", hint=_CREATE_HINT) from error


def _opened(path: Path) -> tantivy.Index:
    """Open an index, also one in a folder where this process cannot write its lock.

    The lock keeps a writer from removing files while a reader opens them. Where it cannot be
    made, links to the files stand in a folder of our own until they are open.
    """
    try:
        return tantivy.Index.open(str(path))
    except ValueError as error:
        if _NO_LOCK not in str(error):
            raise
    with tempfile.TemporaryDirectory(prefix="filbert-index-") as name:
        for file in path.iterdir():
            if not file.name.endswith(".lock"):
                Path(name, file.name).symlink_to(file.absolute())
        return tantivy.Index.open(name)
