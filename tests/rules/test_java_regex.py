"""Java's regular expressions in Python."""

from __future__ import annotations

import re

import pytest

from filbert.rules.java_regex import JavaRegexError, compile_java, replacement


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"[?*!@=]", "http://a/?x", "?"),
        (r"(?i)\.gif$", "/A.GIF", ".GIF"),
        (r"a(?i)b|c", "C", "C"),
        (r"(?:(?i)a)b", "AB", None),
        (r"(?i)a(?-i)b", "AB", None),
        (r"(?i)a(?-i)b", "Ab", "Ab"),
        (r"(?<y>\d{4})/\k<y>", "2026/2026", "2026/2026"),
        (r"\Qa.b\E+", "a.bb", "a.bb"),
        (r"\Qa.b", "axb", None),
        (r"\p{Alpha}+", "1abc2", "abc"),
        (r"[\p{Digit}x]+", "a12x", "12x"),
        (r"\P{Digit}", "1a", "a"),
        (r"x$", "x\r\n", "x"),
        (r"x.y", "x\ry", None),
        (r"(?s)x.y", "x\ry", "x\ry"),
        (r"\d", "\u0664", None),
        (r"\x41\u0042\x{43}\0104", "ABCD", "ABCD"),
        (r"a++b", "aab", "aab"),
        (r"(?>a*)a", "aaa", None),
        (r"\z", "", ""),
        (r"[[]", None, None),
    ],
)
def test_patterns_find_what_java_finds(pattern: str, text: str | None, found: str | None) -> None:
    """A pattern means in Python what it means in Java."""
    if text is None:
        with pytest.raises(JavaRegexError):
            compile_java(pattern)
        return
    match = compile_java(pattern).search(text)
    assert (match[0] if match else None) == found


@pytest.mark.parametrize(
    "pattern",
    [
        "[", "(", ")", "a\\", "[a&&b]", "[a[b]]", r"\p{L}", r"\p{IsGreek}", r"\G", r"\R", r"\X",
        r"\y", "(?d)a", "(?<=a+)b", "*", r"[\P{Digit}]", r"\x{110000}",
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_refused(pattern: str) -> None:
    """A pattern that Python cannot do, or that is broken, is refused and never read differently."""
    with pytest.raises(JavaRegexError):
        compile_java(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "substitution", "expected"),
    [
        ("(a)(b)?", "a", "[$1$2]", "[a]"),
        ("(a)", "a", "$10", "a0"),
        ("(?<x>a)", "a", "${x}${x}", "aa"),
        ("a", "a", r"\$\\", "$\\"),
        ("a", "aa", "", ""),
    ],
)
def test_replacements(pattern: str, text: str, substitution: str, expected: str) -> None:
    """A replacement means what Matcher.appendReplacement makes of it; no group is no text."""
    compiled = compile_java(pattern)
    assert compiled.sub(replacement(substitution, compiled), text) == expected


@pytest.mark.parametrize("substitution", ["$2", "${y}", "$", "a\\"])
def test_replacements_that_name_nothing_are_refused(substitution: str) -> None:
    """A replacement that refers to what the pattern has not is refused when it is read."""
    with pytest.raises(JavaRegexError):
        replacement(substitution, re.compile("(a)"))
