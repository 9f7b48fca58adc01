"""Expressions over pages: what they mean, and how their errors point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from filbert.engine.functions import duckdb_statements
from filbert.errors import UserError
from filbert.rules.expression import slips, where

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROW = """
create table page as select
    'http://ex.org/a.html' as url, 'ex.org' as host, 'ex.org' as domain,
    cast(1 as smallint) as status, cast(1700000000000 as bigint) as fetch_time,
    cast(null as bigint) as modified_time, cast(2 as smallint) as retries,
    604800 as fetch_interval, cast(0.2 as float) as score, cast('ab' as blob) as signature,
    cast(null as float) as fixed_interval, 'text/html' as content_type,
    cast(null as varchar) as repr_url, 1 as depth, cast(null as int) as max_depth,
    cast(null as bigint) as orphan_time, map {'my-key': '7', 'lang': 'de'} as metadata
"""


@pytest.fixture(scope="module")
def page() -> Iterator[duckdb.DuckDBPyConnection]:
    """One crawldb row in a database of its own."""
    with duckdb.connect() as connection:
        for statement in duckdb_statements():
            connection.execute(statement)
        connection.execute(_ROW)
        yield connection


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("", True),
        ("interval <= 604800", True),
        ("status == 'db_unfetched' && score > 0.2", True),  # 0.2 as float32 is above 0.2
        ("status eq 'db_unfetched' and not (retries ge 3)", True),
        ("score LT 0.1 OR retries ne 2", False),
        (r"url =~ '.*\.html'", True),
        ("url =~ 'ex'", False),  # Java's matches(): the whole text
        ("url !~ 'ex'", True),
        ("url.matches('http://ex.*')", True),
        ("url =^ 'http:' && url =$ '.html' && url !^ 'ftp' && url !$ '.pdf'", True),
        ("url.startsWith('http://ex') && url.endsWith('l') && url.contains('.org')", True),
        ("my_key > 5", True),  # metadata is text; it compares with numbers as a number
        ("my_key == 7", True),
        ("lang =~ ['de', 'fr']", True),
        ("lang !~ ['de', 'fr']", False),
        ("fetchTime < 2026-01-01T00:00:00Z", True),
        ("fetchTime >= '2026-01-01T00:00:00Z'", False),
        ("modifiedTime == 0", True),
        ("interval / 86400 == 7", True),
        ("interval / 100000 == 6", True),  # whole numbers divide as whole numbers
        ("interval / 100000.0 > 6", True),
        ("interval % 2 == 0", True),
        ("interval * 1000000 > 5", True),  # no overflow of 32 bits
        ("interval / 0 == 1", False),
        ("-interval < 0", True),
        ("interval > 1e400", False),
        ("interval < 1e400 && -1e400 < score && url + 1e400 != ''", True),
        ("score > 99999999999999999999999999999999999999999999", False),
        ("score < " + "9" * 5000, True),
        ("fetchTime < 9223372036854775808 && fetchTime > -9223372036854775808", True),
        ("fetchTime == 1700000000000 && 9223372036854775807 > 9223372036854775806", True),
        ("fetchTime * 99999999999 > 1e22", True),  # beyond 64 bits, as a double
        ("fetchTime * fetchTime * fetchTime * fetchTime > 0", True),
        ("9223372036854775807 + fetchTime > 0", True),
        ("-9223372036854775807 - interval < 0", True),
        ("9223372036854775807 * 2 / interval % 3 >= 0", True),
        ("fetchTime * 1000 / 7 == 242857142857142", True),  # 64 bits hold it: a whole number
        ("(lang == 'de' ? fetchTime : 1) * 99999999999 > 1e22", True),
        ("score * 1e308 * 1e308 > 1e308", True),
        ("-0 == 0 && -0.0 == 0", True),
        ("retries % 1e400 == 2", True),
        ("url.substring(99999999999) == 'x'", False),
        ("url.substring(1e400) == 'x' || url.substring(0, 2147483648) != ''", False),
        ("url.substring(-1) != '' || url.substring(2, 1) != ''", False),  # Java throws
        ("url.substring(20) == '' && url.substring(7, 9) == 'ex'", True),
        ("'1' + 1e308 > 5 || my_key * 1e308 > 5", True),
        ("1 + '2' == '12'", True),
        ("url.length() > 10 ? score > 0.1 : false", True),
        ("(missing ?: 'x') == 'x'", True),
        ("missing == 'a'", False),
        ("!(missing == 'a')", False),  # what cannot be computed is false, negated or not
        ("missing == null && url != null", True),
        ("missing > 5", False),
        ("lang > 5", False),
        ("size(url) == 20 && empty(missing)", True),
        ("signature == '6162'", True),
        ("url.substring(0, 4) == 'http' && url.indexOf('ex') == 7", True),
        ("Content_Type.toUpperCase() == 'TEXT/HTML'", True),
        ("domain == 'ex.org'", True),
        ("lang == 'd\\'e' || lang == \"de\"", True),
    ],
)
def test_meaning(page: duckdb.DuckDBPyConnection, expression: str, *, wanted: bool) -> None:
    """An expression means what JEXL makes of it over Nutch's variables."""
    row = page.execute(f"select {where(expression)} from page").fetchone()

    assert row == (wanted,)


@pytest.mark.parametrize(
    ("expression", "column", "what"),
    [
        ("url", 1, "gives a text, not true or false"),
        ("score + 1", 7, "gives a number"),
        ("a =", 3, "= cannot stand here"),
        ("a = 1", 3, "= cannot stand here"),
        ("score > ", 8, "ends too early"),
        ("(a", 3, ") is missing for the ( at column 1"),
        ("a == 1)", 7, ") cannot stand here"),
        ("url.foo()", 5, "there is no method foo"),
        ("url.length(1)", 5, "takes 0 arguments"),
        ("foo(1)", 1, "there is no function foo"),
        ("'abc", 1, "no closing '"),
        ("fetchtime > 1", 1, "there is no fetchtime"),
        ("a & b", 3, "& alone means nothing"),
        ("url =~ '('", 8, "broken regular expression"),
        ("url =~ '(?=a)b'", 8, "look-around"),
        ("url =~ lang", 8, "must be a text in quotes"),
        ("url == #", 8, "'#' begins nothing"),
        ("fetchTime < 2026-13-01T00:00:00Z", 13, "is no date"),
        ("a ? 1", 6, ": is missing for the ? at column 3"),
        ("(a ? 1 : 'x') == 1", 4, "one side is a"),
        ("(1 == 1) > 2", 4, "true or false is no number"),
        ("[1] == 1", 1, "a list can only stand"),
        ("url.'x'", 5, "a name must follow the dot"),
        ("'x'.y", 5, "y is no method"),
        ("size(1, 2) == 1", 1, "takes one value"),
    ],
)
def test_a_fault_is_pointed_at(expression: str, column: int, what: str) -> None:
    """A wrong expression is refused, with the column of the fault and a mark under it."""
    with pytest.raises(UserError) as caught:
        where(expression)

    assert f"column {column}:" in caught.value.message
    assert what in caught.value.message
    assert caught.value.hint.splitlines()[1] == "  " + " " * (column - 1) + "^"


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 9000,
        "!" * 9000 + "true",
        "+".join("1" * 9000),
        "-" * 9000 + "1 == 1",
        "a.b" * 9000,
        "url" + ".trim()" * 3000 + " == ''",
        "url" + ".substring(1)" * 25 + " == ''",
    ],
)
def test_no_text_exhausts_the_stack(expression: str) -> None:
    """However deep a text nests, it is refused in words."""
    with pytest.raises(UserError):
        where(expression)


def test_long_chains_of_conditions_are_fine() -> None:
    """Any number of conditions may be joined."""
    assert where(" && ".join(["score > 1"] * 3000)).count(" and ") == 2999


def test_values_never_enter_as_text() -> None:
    """A quote in an expression stays inside its literal."""
    assert where("lang == \"x' or '1'='1\"").count("''") == 4


def test_a_name_that_looks_mistyped_is_told() -> None:
    """Metadata may have any name; one that is nearly a variable's is reported, once."""
    found = slips(
        "scor > 1 && (retires < 3 || size(x) > 0) && scor < 2 && score > 0 && _mine_ == 1"
    )
    assert found == {"scor": "score", "retires": "retries"}
    assert slips("") == {}
