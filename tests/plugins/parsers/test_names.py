"""Limits on attributes and names, and pages made to cost a parser minutes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert.model.records import Page, Parse
from filbert.plugins.parsers.html import HtmlParser
from filbert.plugins.parsers.names import MAX_ATTRIBUTES, MAX_NAMES, cap_names
from filbert.settings import Settings

LONG = "long text. " * 20_000
"""Enough that a page is looked at."""

HOSTILE = {
    "a tag of attributes": "<div " + " ".join(f"a{n}" for n in range(100_000)) + ">",
    "attributes with >": "<div " + " ".join(f'a{n}="<>"' for n in range(100_000)) + ">",
    "attributes of an end tag": "<p></p " + " ".join(f"a{n}" for n in range(100_000)) + ">",
    "attributes of html": "".join(f"<html b{n}=1>" for n in range(60_000)),
    "attributes of body": "".join(f"<body b{n}=1>" for n in range(60_000)),
    "names of attributes": "".join(f"<i a{n}=1></i>" for n in range(200_000)),
    "names of tags": "".join(f"<t{n}></t{n}>" for n in range(200_000)),
    "names of open tags": "".join(f"<t{n}>" for n in range(200_000)),
    "open addresses": "<address>" * 100_000,
    "open addresses with >": "<address a='<>'>" * 100_000,
    "open unknowns": "<x>" * 100_000 + "<p>" * 100_000,
    "open rubies": "<rt>" * 100_000,
    "quotes": "<a \"'" * 200_000,
    "open quotes": "<a b='\"" * 200_000,
    "signs": "<" * 1_000_000,
    "references": "&" * 1_000_000,
    "comments": "<!--" * 200_000,
    "scripts": "<script>" * 200_000,
    "tags without an end": "<a " * 300_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_no_page_costs_minutes(name: str) -> None:
    """A parse of what squares in the tree builder ends in seconds, and its text is there."""
    url = "http://a.com/"
    body = ("<p>before</p>" + HOSTILE[name]).encode()
    page = Page(url=url, base_url=url, body=body, content_type="text/html")
    begin = time.process_time()
    (parse,) = HtmlParser(Settings()).parse(page)
    assert time.process_time() - begin < 5
    assert parse.text.startswith("before")


def test_attributes_beyond_the_limit_go() -> None:
    """The first ones stay, and all that comes after the tag."""
    names = [f"a{n}" for n in range(MAX_ATTRIBUTES + 100)]
    text = f"{LONG}<div {' '.join(names)}><a href='/x'>x</a>"
    assert cap_names(text) == f"{LONG}<div {' '.join(names[:MAX_ATTRIBUTES])}><a href='/x'>x</a>"


def test_tags_that_bring_names_beyond_the_limit_go() -> None:
    """Those with names known by then stay, and every text."""
    many = "".join(f"<i a{n}>" for n in range(MAX_NAMES - 1))
    text = f"{LONG * 10}{many}<t1>new</t1><i a5>known</i>"
    assert len(text) > 1 << 20
    assert cap_names(text) == f"{LONG * 10}{many}new<i a5>known</i>"


ORDINARY = {
    "a value with signs": '<a title="a > b < c" href=/x>x</a>',
    "a script is no tag": "<script>for(i=0;i<n;i++){" + "a b " * 5000 + "}</script><b>x</b>",
    "nor is a comment": "<!-- i<n " + "a b " * 5000 + " --><b>x</b>",
    "a quote that is not closed": '<a href="x>text</a>',
    "an end that is not there": "text <a href=x",
    "a doctype and an instruction": "<!DOCTYPE html><?xml a='>'?><p>x",
}


@pytest.mark.parametrize("name", ORDINARY)
def test_a_page_within_the_limits_is_left_as_it_is(name: str) -> None:
    """Signs in values, code and comments are no tags."""
    text = LONG * 10 + ORDINARY[name]
    assert cap_names(text) == text


@given(st.lists(st.sampled_from(["<", ">", "a", " ", "/", "=", '"', "'", "!--", "-->", "script"])))
def test_any_signs_within_the_limits_are_left_as_they_are(signs: list[str]) -> None:
    """Whatever they make up."""
    text = LONG + "".join(signs)
    assert cap_names(text) == text


def test_unknown_tags_take_no_link_away() -> None:
    """An archive of mails has thousands of `<name@host>`; its links stay."""
    text = "".join(f"<someone{n % 90}@example.org> wrote" for n in range(3000))
    assert len(_links(f"{text}<a href=/next>next</a>")) == 1


def _links(text: str) -> tuple[object, ...]:
    url = "http://a.com/"
    page = Page(url=url, base_url=url, body=text.encode(), content_type="text/html")
    parse: Parse = HtmlParser(Settings()).parse(page)[0]
    return parse.links
