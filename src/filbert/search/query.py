"""The query language of the search: text to a small tree.

Guarantee: every text is either a tree or a `UserError` that says what is wrong and at which
character. Words stand for AND. The language:

    hazel nuts          both words
    "hazel nut"         the words in this order, side by side
    hazel OR filbert    one of them; AND, OR, NOT in capitals
    hazel -squirrel     not with this word; NOT squirrel is the same
    (a OR b) c          parentheses
    site:example.org    pages of this host and the hosts under it
    title:nut url:faq anchor:map text:oak    the word in that part of the page; lang:fr the language
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from filbert.errors import UserError

__all__ = [
    "EXAMPLES",
    "FIELDS",
    "And",
    "Field",
    "Node",
    "Not",
    "Or",
    "Term",
    "parse_query",
    "unheeded",
]

Field = Literal["", "site", "title", "url", "anchor", "text", "lang"]
EXAMPLES: dict[Field, str] = {
    "site": "site:example.org",
    "title": "title:oak",
    "url": "url:faq",
    "anchor": "anchor:map",
    "text": "text:nut",
    "lang": "lang:en",
}
FIELDS: tuple[Field, ...] = tuple(EXAMPLES)


@dataclass(frozen=True, slots=True)
class Term:
    """One word, or with `phrase` the words in quotation marks, in one field or in all."""

    text: str
    field: Field = ""
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class And:
    """All of them."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of them."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Pages without it."""

    part: Node


Node = Term | And | Or | Not

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<open>\() | (?P<close>\))
    | (?P<minus>-(?=[^\s-]))
    | (?P<field>(?:site|title|url|anchor|text|lang):)
    | "(?P<quoted>[^"]*)(?P<quote_end>"?)
    | (?P<word>(?:[^\s()"]|\(\))+)  # print() is a word
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_DEPTH_LIMIT = 50
_LENGTH_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int  # character, from 1


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    position = 0
    text = text.replace("“", '"').replace("”", '"').replace("„", '"').rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None, text[position:]
        at = match.end() - len(match.group().lstrip()) + 1
        position = match.end()
        kind = match.lastgroup if match.lastgroup != "quote_end" else "quoted"
        assert kind is not None
        if kind == "quoted" and not match["quote_end"]:
            raise UserError(f"the quotation mark at character {at} is never closed")
        found.append(_Token(kind, match[kind], at))
    return found


class _Parser:
    """Recursive descent: either is both (OR both)*, both is (AND? one)+, one is a word or group."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._either()
        left = self._peek()
        if left is not None:
            raise UserError(f"the parenthesis at character {left.at} closes nothing")
        return node

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _is_word(self, *texts: str) -> bool:
        token = self._peek()
        return token is not None and token.kind == "word" and token.text in texts

    def _either(self) -> Node:
        parts = [self._both()]
        while self._is_word("OR", "|"):
            self._next += 1
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self) -> Node:
        parts: list[Node] = []
        while (token := self._peek()) is not None and token.kind != "close":
            if self._is_word("OR", "|"):
                break
            if self._is_word("AND", "&"):
                self._operand_before("AND", parts, token)
                continue
            parts.append(self._one())
        if not parts:
            raise UserError(self._nothing_here())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _operand_before(self, word: str, parts: list[Node], token: _Token) -> None:
        self._next += 1
        after = self._peek()
        if not parts or after is None or after.kind == "close":
            side = "before" if not parts else "after"
            raise UserError(f"{word} at character {token.at} has nothing {side} it")

    def _nothing_here(self) -> str:
        token = self._peek()
        if token is None:
            return "the query ends where words should follow"
        if token.kind == "close":
            return f"there is nothing before the parenthesis at character {token.at}"
        return f"{token.text} at character {token.at} has nothing before it"

    def _one(self) -> Node:
        token = self._tokens[self._next]
        self._next += 1
        if token.kind == "minus" or (token.kind == "word" and token.text == "NOT"):
            if self._peek() is None or self._is_word("OR", "AND"):
                raise UserError(f"{token.text} at character {token.at} has nothing after it")
            return Not(self._one())
        if token.kind == "open":
            return self._group(token)
        if token.kind == "field":
            return self._in_field(token)
        return Term(token.text, phrase=token.kind == "quoted")

    def _group(self, token: _Token) -> Node:
        self._depth += 1
        if self._depth > _DEPTH_LIMIT:
            raise UserError(f"more than {_DEPTH_LIMIT} parentheses in one another")
        node = self._either()
        closing = self._peek()
        if closing is None:
            raise UserError(f"the parenthesis at character {token.at} is never closed")
        self._next += 1
        self._depth -= 1
        return node

    def _in_field(self, token: _Token) -> Node:
        field = next(known for known in FIELDS if known == token.text[:-1].lower())
        value = self._peek()
        is_behind = value is not None and value.at == token.at + len(token.text)
        if value is None or not is_behind or value.kind not in {"word", "quoted"}:
            raise UserError(
                f"{token.text} at character {token.at} has no word right behind it",
                hint=f"write a word or a phrase behind the colon, such as {EXAMPLES[field]}",
            )
        self._next += 1
        return Term(value.text, field=field, phrase=value.kind == "quoted")


def parse_query(text: str) -> Node:
    """Return the tree of a query.

    Raises:
        UserError: The query is empty, or breaks off; says at which character.
    """
    if len(text) > _LENGTH_LIMIT:
        raise UserError(f"the query has {len(text)} characters; {_LENGTH_LIMIT} are allowed")
    tokens = _tokens(text)
    if not tokens:
        raise UserError("the query is empty", hint='say what to look for, such as "hazel nut"')
    return _Parser(tokens).whole()


_NO_FIELD = re.compile(r"([A-Za-z_]+):(?!//|:)\S")
_SIGNS = {
    "*": (
        re.compile(r"[^\W_]\*|\*[^\W_]"),
        "words are found whole, or by their English stem",
    ),
    "~": (re.compile(r"\w~\d*$"), "words are found as they are written"),
    "^": (re.compile(r"\w\^[\d.]+$"), "the settings search.*_weight say what counts more"),
}


def unheeded(text: str) -> list[str]:
    """Return what a person may have meant by signs of a query that are part of no language here.

    Other search engines have them, so they are told when a query finds nothing.
    """
    hints = []
    for word in (token.text for token in _tokens(text) if token.kind == "word"):
        if found := _NO_FIELD.match(word):
            near = get_close_matches(found[1].lower(), FIELDS, n=1)
            meant = f"did you mean {near[0]}:?" if near else f"fields are {', '.join(FIELDS)}"
            hints.append(f"there is no field {found[1]}: {meant}")
        for sign, (pattern, instead) in _SIGNS.items():
            if pattern.search(word):
                hints.append(f"{sign} has no meaning in {word}: {instead}")
    return list(dict.fromkeys(hints))
