"""The words of an expression: names, numbers, texts, dates, operators.

Guarantee: each token knows the column it begins at, counted from 1. Words such as `and` or `le`
come out as the operator they stand for. Source: the syntax of Apache Commons JEXL 3; dates are
Nutch's addition, read in UTC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

from filbert.errors import UserError
from filbert.rules.expression.typed import BIGINT_MAX

__all__ = ["Kind", "Token", "date_ms", "fault", "tokens"]


class Kind(Enum):
    """What a token is."""

    NUMBER = auto()
    TEXT = auto()
    NAME = auto()
    OPERATOR = auto()
    END = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One word; `value` is the number or text it stands for, `text` its operator or name."""

    kind: Kind
    text: str
    column: int
    value: str | int | float = ""


_WORDS = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "div": "/",
    "mod": "%",
}

_DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<date>{_DATE})
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[lLfFdDhHbB]?(?![\w.])
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<name>[A-Za-z_$@][\w$@]*)
    | (?P<operator>&&|\|\||===|!==|==|!=|<=|>=|=~|!~|=\^|!\^|=\$|!\$|\?:|\?\?
      |[<>!+\-*/%()\[\],.?:=])
    )""",
    re.VERBOSE | re.DOTALL,
)
_MOST_DIGITS = 4000  # Python reads no longer ones as whole numbers
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_KEPT = frozenset("'\"\\")


def tokens(text: str) -> list[Token]:
    """Return the tokens of an expression, an END at the end.

    Raises:
        UserError: A character that begins no token, a text without its end, no such date.
    """
    found: list[Token] = []
    at = 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unreadable(text, at + len(text[at:]) - len(text[at:].lstrip()))
        found.append(_token(text, match))
        at = match.end()
    found.append(Token(kind=Kind.END, text="", column=end + 1))
    return found


def fault(text: str, column: int, what: str, *, hint: str = "") -> UserError:
    """Return the error that points at `column` (from 1) of expression `text`."""
    shown = text.replace("\n", " ").replace("\t", " ")
    pointer = f"{shown}\n  {' ' * (column - 1)}^"
    return UserError(
        f"expression, column {column}: {what}", hint=pointer + (f"\n  {hint}" if hint else "")
    )


def date_ms(text: str) -> int | None:
    """Return `yyyy-MM-ddTHH:mm:ssZ` as epoch milliseconds (UTC); None if it is no such date."""
    if not re.fullmatch(_DATE, text):
        return None
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return None


def _token(text: str, match: re.Match[str]) -> Token:
    group = str(match.lastgroup)
    word = match[group]
    column = match.start(group) + 1
    if group == "date":
        moment = date_ms(word)
        if moment is None:
            raise fault(text, column, f"{word} is no date")
        return Token(kind=Kind.NUMBER, text=word, column=column, value=moment)
    if group == "number":
        return Token(kind=Kind.NUMBER, text=word, column=column, value=_number(word))
    if group == "text":
        return Token(kind=Kind.TEXT, text=word, column=column, value=_unescaped(word[1:-1]))
    if group == "name" and word.lower() in _WORDS and word in {word.lower(), word.upper()}:
        return Token(kind=Kind.OPERATOR, text=_WORDS[word.lower()], column=column)
    kind = Kind.NAME if group == "name" else Kind.OPERATOR
    return Token(kind=kind, text=word, column=column)


def _number(word: str) -> int | float:
    """Read a number; what 64 bits do not hold is a double, infinity beyond that."""
    if word.isdigit() and len(word) <= _MOST_DIGITS and int(word) <= BIGINT_MAX:
        return int(word)
    return float(word)


def _unescaped(body: str) -> str:
    def replaced(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        if match[2] in _KEPT:
            return match[2]
        # An unknown escape keeps its backslash, so that 'a\.b' can be a regular expression.
        return _ESCAPED.get(match[2], match[0])

    return _ESCAPE.sub(replaced, body)


def _unreadable(text: str, at: int) -> UserError:
    if text[at] in "'\"":
        return fault(text, at + 1, f"this text has no closing {text[at]}")
    if text[at] in "&|":
        return fault(
            text,
            at + 1,
            f"{text[at]} alone means nothing",
            hint=f"Write {text[at] * 2}, or a word: and, or.",
        )
    return fault(text, at + 1, f"{text[at]!r} begins nothing that an expression can have")
