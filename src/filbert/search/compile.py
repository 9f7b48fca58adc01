"""From the tree of a query to the index's own query, and to what a snippet marks.

Guarantee: a query that parses also compiles, or is a `UserError` ("no word in it"). A word counts
most in the field where it counts most (`settings.search` weighs the fields), and a little for the
others; an English page is also found by the stem of a word, at half the weight. `site:` and
`lang:` choose pages and give no score.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tantivy import Occur, Query

from filbert.errors import UserError
from filbert.search import schema as names
from filbert.search.query import EXAMPLES, And, Node, Not, Or, Term
from filbert.search.schema import split_words, stem_words
from filbert.search.text import Run, fold, pairs, runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tantivy import Schema

    from filbert.settings.search import SearchSettings

__all__ = ["Compiled", "Marks", "compile_query", "field_weights"]

_TIE_BREAKER = 0.3  # share of the fields in which a word scores less than in its best one
_STEM_WEIGHT = 0.5
_FIELD_NAMES = {
    "title": ("title", "title_pairs"),
    "anchor": ("anchor", "anchor_pairs"),
    "text": ("text", "text_pairs"),
    "url": ("url_words", "host_words"),
}
# English words that say nothing of what a page is about; they must be there, but hardly count.
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be but by can do for from how i if in is it my not of on or that the"
        " this to was what when where which why will with you your",
    )
)
_FUNCTION_WEIGHT = 0.05
_FILTERS = frozenset({"site", "lang"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What a snippet highlights: folded words, English stems, and runs of unspaced scripts."""

    words: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A query ready to run.

    `strict` wants all words, `relaxed` some of them (None: no other meaning than strict).
    `parts` are the single (word, field, query) for an explanation.
    """

    strict: Query
    relaxed: Query | None
    marks: Marks
    parts: tuple[tuple[str, str, Query], ...] = field(default=(), repr=False)


def field_weights(settings: SearchSettings) -> Mapping[str, float]:
    """Return each index field's weight."""
    weights = {
        "title": settings.title_weight,
        "anchor": settings.anchor_weight,
        "url_words": settings.url_weight,
        "host_words": settings.host_weight,
        "text": settings.text_weight,
        names.STEM_FIELD: settings.text_weight * _STEM_WEIGHT,
    }
    for pair_field in names.PAIR_FIELDS:
        weights[pair_field] = weights[pair_field.removesuffix("_pairs")]
    return weights


def compile_query(tree: Node, schema: Schema, settings: SearchSettings) -> Compiled:
    """Return the index's query for a tree.

    Raises:
        UserError: There is nothing to look for in it, such as only punctuation.
    """
    compiler = _Compiler(schema, field_weights(settings))
    strict = compiler.compile(tree)
    if strict is None:
        raise UserError("the query has no word in it, only punctuation")
    relaxed = compiler.relaxed(tree)
    return Compiled(
        strict=strict, relaxed=relaxed, marks=_marks(tree), parts=tuple(compiler.parts(tree))
    )


class _Compiler:
    def __init__(self, schema: Schema, weights: Mapping[str, float]) -> None:
        self._schema = schema
        self._weights = weights

    def compile(self, node: Node) -> Query | None:
        """Return the query; None for a word that is only punctuation."""
        if isinstance(node, Term):
            return self._term(node)
        if isinstance(node, Not):
            return self._all_of([node])
        if isinstance(node, Or):
            found = [query for part in node.parts if (query := self.compile(part)) is not None]
            return _boolean([(Occur.Should, query) for query in found])
        return self._all_of(node.parts)

    def relaxed(self, node: Node) -> Query | None:
        """Return the query for "some of the words", if the tree is a list of several words."""
        if not isinstance(node, And):
            return None
        terms = [part for part in node.parts if isinstance(part, Term) and not _is_filter(part)]
        others = [part for part in node.parts if part not in terms]
        wanted = [query for part in terms if (query := self.compile(part)) is not None]
        if len(wanted) < 2:
            return None
        some = _boolean([(Occur.Should, query) for query in wanted])
        return self._all_of(others, some) if others else some

    def parts(self, node: Node) -> Iterator[tuple[str, str, Query]]:
        """Yield (word, field, query) of each word that adds to the score."""
        for term in _positive_terms(node):
            if _is_filter(term):
                continue
            for piece in _pieces(term.text):
                for name, query in self._piece_by_field(piece, term):
                    yield _piece_text(piece), name, query

    def _all_of(self, parts: Iterable[Node], *more: Query | None) -> Query | None:
        clauses = [(Occur.Must, query) for query in more if query is not None]
        unwanted = []
        for part in parts:
            inner = part.part if isinstance(part, Not) else part
            query = self.compile(inner)
            if query is None:
                continue
            if isinstance(part, Not):
                unwanted.append((Occur.MustNot, query))
            else:
                clauses.append((Occur.Must, query))
        if unwanted and not clauses:
            page = Query.term_query(self._schema, names.KIND, names.PAGE, "basic")
            clauses.append((Occur.Must, Query.const_score_query(page, 1.0)))
        return _boolean(clauses + unwanted)

    def _term(self, term: Term) -> Query | None:
        if term.field and not _pieces(term.text):
            raise UserError(
                f"there is no word in {term.field}:{term.text}, only punctuation",
                hint=f"write a word or a phrase behind the colon, such as {EXAMPLES[term.field]}",
            )
        if term.field == "site":
            return self._any_raw(names.SITE, _site_spellings(term.text))
        if term.field == "lang":
            return self._any_raw(names.LANGUAGE, [term.text.lower()])
        found = []
        for piece in _pieces(term.text):
            alternatives = [query for _, query in self._piece_by_field(piece, term)]
            best = Query.disjunction_max_query(alternatives, _TIE_BREAKER)
            found.append((Occur.Must, best))
        return _boolean(found)

    def _any_raw(self, name: str, values: Iterable[str]) -> Query:
        terms = [Query.term_query(self._schema, name, value, "basic") for value in values]
        any_of = _boolean([(Occur.Should, term) for term in terms]) or Query.empty_query()
        return Query.const_score_query(any_of, 0.0)

    def _piece_by_field(self, piece: str | list[str], term: Term) -> Iterator[tuple[str, Query]]:
        wanted = _FIELD_NAMES.get(term.field)
        if isinstance(piece, str):
            for name in names.PAIR_FIELDS:
                if wanted is None or name in wanted:
                    yield name, self._weighed(name, self._run(name, piece), [piece])
            return
        for name in names.WORD_FIELDS:
            if wanted is None or name in wanted:
                yield name, self._weighed(name, self._words(name, piece), piece)
        if len(piece) == 1 and not term.phrase and term.field in {"", "text"}:
            for stem in stem_words(piece[0]):
                query = Query.term_query(self._schema, names.STEM_FIELD, stem)
                yield names.STEM_FIELD, self._weighed(names.STEM_FIELD, query, piece)

    def _weighed(self, name: str, query: Query, words: list[str]) -> Query:
        factor = _FUNCTION_WEIGHT if _are_function_words(words) else 1.0
        return Query.boost_query(query, self._weights[name] * factor)

    def _words(self, name: str, words: list[str]) -> Query:
        if len(words) == 1:
            return Query.term_query(self._schema, name, words[0])
        return Query.phrase_query(self._schema, name, list(words))

    def _run(self, name: str, run: str) -> Query:
        if len(run) == 1:  # each place of a character begins a pair or ends a run
            return Query.regex_query(self._schema, name, re.escape(run) + ".?")
        return self._words(name, pairs(run))


def _boolean(clauses: list[tuple[Occur, Query]]) -> Query | None:
    if not clauses:
        return None
    if len(clauses) == 1 and clauses[0][0] != Occur.MustNot:
        return clauses[0][1]
    return Query.boolean_query(clauses)


def _pieces(text: str) -> list[str | list[str]]:
    """Cut a word or phrase into lists of words and runs (`Run`)."""
    pieces: list[str | list[str]] = []
    for part in runs(fold(text)):
        if isinstance(part, Run):
            pieces.append(part)
        elif words := split_words(part):
            pieces.append(words)
    return pieces


def _are_function_words(words: list[str]) -> bool:
    return len(words) == 1 and words[0] in _FUNCTION_WORDS


def _piece_text(piece: str | list[str]) -> str:
    return piece if isinstance(piece, str) else " ".join(piece)


def _is_filter(term: Term) -> bool:
    return term.field in _FILTERS


def _positive_terms(node: Node) -> Iterator[Term]:
    if isinstance(node, Term):
        yield node
    elif not isinstance(node, Not):
        for part in node.parts:
            yield from _positive_terms(part)


def _site_spellings(text: str) -> list[str]:
    """Return a host as it may be written in the index: as given, and in ASCII."""
    host = text.lower().split("://")[-1].split("/")[0].removeprefix("*.").strip(".")
    spellings = [host]
    try:
        ascii_host = host.encode("idna").decode("ascii")
    except UnicodeError:
        return spellings
    if ascii_host != host:
        spellings.append(ascii_host)
    return spellings


def _marks(tree: Node) -> Marks:
    pieces = [
        (piece, term.phrase)
        for term in _positive_terms(tree)
        if term.field not in {"site", "lang", "url"}
        for piece in _pieces(term.text)
    ]
    telling = [one for one in pieces if isinstance(one[0], str) or not _are_function_words(one[0])]
    words: set[str] = set()
    stems: set[str] = set()
    found_runs: list[str] = []
    for piece, is_phrase in telling or pieces:
        if isinstance(piece, str):
            found_runs.append(piece)
            continue
        words.update(piece)
        if len(piece) == 1 and not is_phrase:
            stems.update(stem_words(piece[0]))
    return Marks(words=frozenset(words), stems=frozenset(stems), runs=tuple(found_runs))
