"""Each text is a tree, or an error that says where it is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.errors import UserError
from filbert.search.compile import compile_query
from filbert.search.query import And, Node, Not, Or, Term, parse_query, unheeded
from filbert.search.schema import create_index
from filbert.search.searcher import SearchIndex
from filbert.settings.search import SearchSettings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("oak", Term("oak")),
        ("oak nut", And((Term("oak"), Term("nut")))),
        ("oak AND nut", And((Term("oak"), Term("nut")))),
        ('"oak nut"', Term("oak nut", phrase=True)),
        ("“oak nut”", Term("oak nut", phrase=True)),
        ("a OR b c", Or((Term("a"), And((Term("b"), Term("c")))))),
        ("(a OR b) c", And((Or((Term("a"), Term("b"))), Term("c")))),
        ("-a", Not(Term("a"))),
        ("NOT (a b)", Not(And((Term("a"), Term("b"))))),
        ("Title:oak", Term("oak", field="title")),
        ('title:"oak nut"', Term("oak nut", field="title", phrase=True)),
        ("-site:a.org", Not(Term("a.org", field="site"))),
        ("print()", Term("print()")),
        ("http://a/b", Term("http://a/b")),
        ("well-known", Term("well-known")),
        ("and or not", And((Term("and"), Term("or"), Term("not")))),
    ],
)
def test_trees(text: str, expected: Node) -> None:
    """Words stand for AND; OR binds less; only capitals are operators."""
    got = parse_query(text)
    assert got == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the query is empty"),
        ("   ", "the query is empty"),
        ('oak "nut', "the quotation mark at character 5 is never closed"),
        ("(oak", "the parenthesis at character 1 is never closed"),
        ("oak)", "the parenthesis at character 4 closes nothing"),
        ("oak OR", "the query ends where words should follow"),
        ("OR oak", "OR at character 1 has nothing before it"),
        ("AND oak", "AND at character 1 has nothing before it"),
        ("oak AND", "AND at character 5 has nothing after it"),
        ("oak NOT", "NOT at character 5 has nothing after it"),
        ("( ) oak", "there is nothing before the parenthesis at character 3"),
        ("title:(a b)", "title: at character 1 has no word right behind it"),
        ("oak site:", "site: at character 5 has no word right behind it"),
        ("url: faq", "url: at character 1 has no word right behind it"),
        ("(" * 60 + "a" + ")" * 60, "more than 50 parentheses in one another"),
        ("a" * 2001, "the query has 2001 characters; 2000 are allowed"),
    ],
)
def test_errors_say_where(text: str, message: str) -> None:
    """A query that breaks off is refused with what is wrong and at which character."""
    with pytest.raises(UserError) as caught:
        parse_query(text)
    got = caught.value.message
    assert got == message


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """An index without pages."""
    return SearchIndex(create_index(tmp_path_factory.mktemp("empty")), SearchSettings())


@given(text=st.text(alphabet='ab "()-:.*|&\\漢字ไทย ORANDT title:site', max_size=40))
def test_any_text_is_answered_or_refused(empty: SearchIndex, text: str) -> None:
    """Whatever a person types, the answer is hits or a `UserError`, never another exception."""
    try:
        got = empty.search(text).total
    except UserError:
        got = 0
    assert got == 0


def test_only_punctuation_is_refused(empty: SearchIndex) -> None:
    """A query without a word in it is told so."""
    with pytest.raises(UserError, match="no word in it"):
        compile_query(parse_query("... !"), empty._index.schema, SearchSettings())


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("titel:hazel", ["there is no field titel: did you mean title:?"]),
        ("foo:bar", ["there is no field foo: fields are site, title, url, anchor, text, lang"]),
        ("haz*", ["* has no meaning in haz*: words are found whole, or by their English stem"]),
        ("haz~2", ["~ has no meaning in haz~2: words are found as they are written"]),
        (
            "hazel^5",
            ["^ has no meaning in hazel^5: the settings search.*_weight say what counts more"],
        ),
        ("title:hazel http://a.test/ std::vector 10:30 C++ ~ * 'a'", []),
        ('"foo:bar haz*"', []),
    ],
)
def test_signs_of_other_languages_are_told(text: str, hints: list[str]) -> None:
    """What other search engines read as a field, a wildcard or a weight is only a sign here."""
    assert unheeded(text) == hints
