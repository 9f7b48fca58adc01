r"""Java's regular expressions and replacements, as Nutch's rule files have them, for Python's `re`.

Guarantee: a translated pattern finds what Java finds, or the translation is refused with a reason;
nothing is read differently in silence. Translated: inline flags in mid-pattern, `$` and `.` with
Java's line ends, `\Q..\E`, `\z`, `\h`, `\v`, POSIX classes, named groups, ASCII `\d \w \s`.
Refused: class intersection and nesting, Unicode properties, `\G`, `\R`, `\X`, look-behind of
varying length. Source: the contract of `java.util.regex.Pattern` and `Matcher.appendReplacement`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["JavaRegexError", "compile_java", "replacement"]

_LINE_ENDS = r"\n\r\x85\u2028\u2029"
_DOT = f"[^{_LINE_ENDS}]"
_END = rf"(?=(?:\r\n|[{_LINE_ENDS}])?\Z)"

_ESCAPES = {
    "z": r"\Z",
    "Z": _END,
    "e": r"\x1b",
    "h": r"[ \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]",
    "v": r"[\n\x0b\f\r\x85\u2028\u2029]",
}
_REFUSED_ESCAPES = {"G": "\\G", "R": "\\R", "X": "\\X", "N": "\\N{..}", "H": "\\H", "V": "\\V"}

_POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0b\f\r",
}

_FLAG_GROUP = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAMED_GROUP = re.compile(r"\(\?<([A-Za-z][A-Za-z0-9]*)>")
_REPLACEMENT = re.compile(r"\\(.)|\$(\d)(\d*)|\$\{([A-Za-z][A-Za-z0-9]*)\}|([$\\])", re.DOTALL)


class JavaRegexError(ValueError):
    """A pattern or replacement that is wrong, or that Python cannot do; the text says why."""


def compile_java(pattern: str) -> re.Pattern[str]:
    """Return the pattern for Python.

    Raises:
        JavaRegexError: It is broken, or has what is refused.
    """
    translated = _Translator(pattern).run()
    try:
        return re.compile(translated, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise JavaRegexError(str(error)) from None


def replacement(text: str, pattern: re.Pattern[str]) -> Callable[[re.Match[str]], str]:
    """Return Java's replacement text as a function for `re.sub`.

    Raises:
        JavaRegexError: It names a group that the pattern has not, or ends in `$` or a backslash.
    """
    pieces: list[str | int] = []
    last = 0
    for found in _REPLACEMENT.finditer(text):
        pieces.append(text[last : found.start()])
        pieces.extend(_replacement_piece(found, pattern))
        last = found.end()
    pieces.append(text[last:])
    parts = [piece for piece in pieces if piece != ""]

    def replace(match: re.Match[str]) -> str:
        return "".join(part if isinstance(part, str) else match[part] or "" for part in parts)

    return replace


def _replacement_piece(found: re.Match[str], pattern: re.Pattern[str]) -> list[str | int]:
    escaped, digit, more, name, stray = found.groups()
    if stray is not None:
        raise JavaRegexError(f"replacement has a {stray} with nothing to refer to")
    if escaped is not None:
        return [escaped]
    if name is not None:
        if name not in pattern.groupindex:
            raise JavaRegexError(f"replacement names the group {name}, which the pattern has not")
        return [pattern.groupindex[name]]
    number, used = int(digit), 0
    while used < len(more) and number * 10 + int(more[used]) <= pattern.groups:
        number = number * 10 + int(more[used])
        used += 1
    if number > pattern.groups:
        raise JavaRegexError(f"replacement names the group {number} of {pattern.groups}")
    return [number, more[used:]]


@dataclass(slots=True)
class _Group:
    """An open group: the flags of its own, and the flag groups opened inside it on the way."""

    own: str = ""
    scoped: list[str] = field(default_factory=list)


class _Translator:
    """One walk over a pattern; `_groups` has the open groups, outermost first."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._out: list[str] = []
        self._groups = [_Group()]

    def run(self) -> str:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        if len(self._groups) != 1:
            raise JavaRegexError("a group is not closed")
        self._close_flags(self._groups[0])
        return "".join(self._out)

    def _step(self, char: str) -> None:
        if char == "\\":
            self._out.append(self._escape(in_class=False))
        elif char == "[":
            self._class()
        elif char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char == "|":
            self._alternative()
        else:
            self._out.append(self._plain(char))
            self._at += 1

    def _plain(self, char: str) -> str:
        flags = "".join(group.own + "".join(group.scoped) for group in self._groups)
        if char == "." and "s" not in flags:
            return _DOT
        if char == "$" and "m" not in flags:
            return _END
        return char

    def _open(self) -> None:
        if named := _NAMED_GROUP.match(self._text, self._at):
            self._out.append(f"(?P<{named[1]}>")
            self._at = named.end()
        elif flags := _FLAG_GROUP.match(self._text, self._at):
            self._flags(flags)
            return
        else:
            self._out.append("(")
            self._at += 1
        self._groups.append(_Group())

    def _flags(self, found: re.Match[str]) -> None:
        on, off, end = found[1], found[2] or "", found[3]
        unknown = set(on + off) - set("imsux")
        if unknown:
            raise JavaRegexError(f"flag {''.join(sorted(unknown))} in {found[0]}")
        on, off = on.replace("u", ""), off.replace("u", "")
        text = f"(?{on}-{off}:" if off else f"(?{on}:"
        self._at = found.end()
        self._out.append(text)
        if end == ":":
            self._groups.append(_Group(own=on))
        else:
            self._groups[-1].scoped.append(text)

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise JavaRegexError("a ) closes nothing")
        self._close_flags(self._groups.pop())
        self._out.append(")")
        self._at += 1

    def _close_flags(self, group: _Group) -> None:
        self._out.append(")" * len(group.scoped))

    def _alternative(self) -> None:
        scoped = self._groups[-1].scoped
        self._out.append(")" * len(scoped) + "|" + "".join(scoped))
        self._at += 1

    def _escape(self, *, in_class: bool) -> str:
        char = self._text[self._at + 1 : self._at + 2]
        if not char:
            raise JavaRegexError("it ends in a backslash")
        if char in _REFUSED_ESCAPES:
            raise JavaRegexError(f"{_REFUSED_ESCAPES[char]} is not supported")
        for read in (_quoted, _posix, _code_point, _back_reference):
            if (taken := read(self._text, self._at, in_class)) is not None:
                self._at = taken[1]
                return taken[0]
        self._at += 2
        if char in _ESCAPES:
            text = _ESCAPES[char]
            return text if not in_class else text.strip("[]")
        if char.isascii() and char.isalpha() and char not in "abBAdDsSwWfnrt":
            raise JavaRegexError(f"\\{char} is no escape")
        return f"\\{char}"

    def _class(self) -> None:
        """Translate a character class; `self._at` stands on its `[`."""
        start = self._at
        self._out.append("[")
        self._at += 1
        if self._text.startswith("^", self._at):
            self._out.append("^")
            self._at += 1
        first = True
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == "]" and not first:
                self._out.append("]")
                self._at += 1
                return
            self._out.append(self._class_member(char))
            first = False
        raise JavaRegexError(f"the class {self._text[start : start + 20]} is not closed")

    def _class_member(self, char: str) -> str:
        if char == "\\":
            return self._escape(in_class=True)
        if char == "[":
            raise JavaRegexError("a class inside a class is not supported; write \\[ for the sign")
        if self._text.startswith("&&", self._at):
            raise JavaRegexError("intersection of classes (&&) is not supported")
        self._at += 1
        return f"\\{char}" if char in "]|~&" else char


def _quoted(text: str, at: int, in_class: bool) -> tuple[str, int] | None:  # noqa: FBT001
    r"""`\Q ... \E`: all of it literal."""
    del in_class
    if not text.startswith("\\Q", at):
        return None
    end = text.find("\\E", at)
    literal = text[at + 2 : end if end >= 0 else len(text)]
    return re.escape(literal), end + 2 if end >= 0 else len(text)


_PROPERTY = re.compile(r"\\([pP])(?:\{(\w+)\}|(\w))")


def _posix(text: str, at: int, in_class: bool) -> tuple[str, int] | None:  # noqa: FBT001
    r"""`\p{Alpha}` and its sisters."""
    if text[at + 1] not in "pP":
        return None
    found = _PROPERTY.match(text, at)
    members = _POSIX.get(found[2] or "") if found else None
    if found is None or members is None or (in_class and found[1] == "P"):
        raise JavaRegexError(f"the property {text[at : at + 12]} is not supported")
    if in_class:
        return members, found.end()
    return f"[{'^' if found[1] == 'P' else ''}{members}]", found.end()


_CODE = re.compile(
    r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|0([0-7]{1,3})|c(.))"
)


def _code_point(text: str, at: int, in_class: bool) -> tuple[str, int] | None:  # noqa: FBT001
    r"""`\x41`, `\x{1F600}`, `\u0041`, `\0101`, `\cA`."""
    del in_class
    found = _CODE.match(text, at)
    if found is None:
        return None
    braces, hexa, unicode, octal, control = found.groups()
    if control:
        code = ord(control) ^ 64
    else:
        code = int(octal, 8) if octal else int(braces or hexa or unicode, 16)
    if code > 0x10FFFF:
        raise JavaRegexError(f"{found[0]} is no character")
    return re.escape(chr(code)), found.end()


_NAMED_REFERENCE = re.compile(r"\\k<([A-Za-z][A-Za-z0-9]*)>")


def _back_reference(text: str, at: int, in_class: bool) -> tuple[str, int] | None:  # noqa: FBT001
    r"""`\k<name>`."""
    found = None if in_class else _NAMED_REFERENCE.match(text, at)
    return (f"(?P={found[1]})", found.end()) if found else None
