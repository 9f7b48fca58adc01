"""Text of the web on a terminal."""

from __future__ import annotations

import json

import pytest

from filbert.cli.escape import printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain äöü 日本", "plain äöü 日本"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\x9b31m\x7f\r", "\\u009b31m\\u007f\\u000d"),
        ("one\r\ntwo\rthree\r", "one\ntwo\\u000dthree\\u000d"),
        ("\u202eexe.txt", "\\u202eexe.txt"),
    ],
)
def test_no_text_steers_a_terminal(text: str, expected: str) -> None:
    """Control characters and changes of direction are shown, not obeyed."""
    assert printable(text) == expected


def test_a_line_of_json_stays_json() -> None:
    """The escapes are JSON's own, so that the value is unchanged."""
    line = json.dumps({"title": "a\x9bb\u202e"}, ensure_ascii=False)
    assert json.loads(printable(line)) == {"title": "a\x9bb\u202e"}
