"""What is written into the embedded index is found, ranked, shown and replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.errors import DataError, UserError
from filbert.model.records import Document
from filbert.search.searcher import SearchIndex
from filbert.search.writer import EmbeddedWriter, site_terms
from filbert.settings.search import SearchSettings

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = SearchSettings(writer_memory_mb=16)


def page(
    url: str, title: str = "", content: str = "", *, boost: float = 1.0, **fields: str
) -> Document:
    """A document as the index step makes it."""
    host = url.partition("://")[2].partition("/")[0].partition(":")[0]
    named = {"title": title, "content": content, "host": host, **fields}
    return Document(url=url, fields={k: (v,) for k, v in named.items() if v}, boost=boost)


PAGES = (
    page("http://oak.test/", "The oak", "An oak is a tree. Its nut is the acorn.", lang="en"),
    page("http://hazel.test/", "Hazel", "The hazel bears nuts; hazelnuts, filberts.", lang="en"),
    page("http://hazel.test/jays", "Jays", "A jay was hiding an acorn in the oak.", lang="en-GB"),
    page("http://de.test/eiche", "Die Eiche", "Die Früchte der Eiche heißen Eicheln.", lang="de"),
    page(
        "http://ja.test/",
        "榛の実",
        "今日の天気は晴れです。リスが木の実を食べる。Python入門",
        lang="ja",
    ),
    page("http://th.test/", "ป่า", "กระรอกกินลูกนัทในป่า", lang="th"),
    page("http://ko.test/", "다람쥐", "다람쥐가 개암을 먹는다", lang="ko"),
    page("http://el.test/", "Φουντουκιά", "Ο σκίουρος τρώει φουντούκια", lang="el"),
    page("http://hi.test/", "गिलहरी", "गिलहरी पेड़ पर हिन्दी में", lang="hi"),
    page("http://docs.test:8080/lib/asyncio.html", "asyncio", "Use asyncio.gather() to wait."),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """An index of ten pages in nine scripts and languages."""
    path = tmp_path_factory.mktemp("crawl") / "index"
    with EmbeddedWriter(path, SETTINGS) as writer:
        for one in PAGES:
            writer.write(one)
        writer.remember({"segments": "20261130201530"})
        writer.commit()
    return SearchIndex.open(path, SETTINGS)


def found(index: SearchIndex, query: str) -> set[str]:
    """The URLs of the hits."""
    return {hit.url for hit in index.search(query, limit=50).hits}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("acorn", {"http://oak.test/", "http://hazel.test/jays"}),
        ("oak tree", {"http://oak.test/"}),
        ('"acorn in"', {"http://hazel.test/jays"}),
        ("acorn -jay", {"http://oak.test/"}),
        ("acorn NOT jay", {"http://oak.test/"}),
        ("eicheln OR filberts", {"http://de.test/eiche", "http://hazel.test/"}),
        ("acorn (tree OR hiding)", {"http://oak.test/", "http://hazel.test/jays"}),
        ("title:oak", {"http://oak.test/"}),
        ("acorn site:hazel.test", {"http://hazel.test/jays"}),
        ("site:test eiche", {"http://de.test/eiche"}),
        ("site:docs.test:8080", {"http://docs.test:8080/lib/asyncio.html"}),
        ("url:lib", {"http://docs.test:8080/lib/asyncio.html"}),
        ("url:asyncio.html", {"http://docs.test:8080/lib/asyncio.html"}),
        ("lang:en acorn", {"http://oak.test/", "http://hazel.test/jays"}),
        ("lang:en-gb", {"http://hazel.test/jays"}),
        ("asyncio.gather", {"http://docs.test:8080/lib/asyncio.html"}),
        ("asyncio.gather()", {"http://docs.test:8080/lib/asyncio.html"}),
        ("-site:test", set()),
    ],
)
def test_query_language(index: SearchIndex, query: str, expected: set[str]) -> None:
    """Words, phrases, AND OR NOT, parentheses and fields choose the pages that they say."""
    got = found(index, query)
    assert got == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("fruchte", "http://de.test/eiche"),
        ("FRÜCHTE", "http://de.test/eiche"),
        ("heissen", "http://de.test/eiche"),
        ("天気", "http://ja.test/"),
        ("今日の天気", "http://ja.test/"),
        ("榛", "http://ja.test/"),
        ("ﾘｽ", "http://ja.test/"),
        ("python", "http://ja.test/"),
        ("Python入門", "http://ja.test/"),
        ("กระรอก", "http://th.test/"),
        ("개암", "http://ko.test/"),
        ("σκιουρος", "http://el.test/"),
        ("गिलहरी", "http://hi.test/"),
        ("हिन्दी", "http://hi.test/"),
    ],
)
def test_every_script_is_found(index: SearchIndex, query: str, expected: str) -> None:
    """Case, accents and width do not matter; scripts without spaces are found by any word."""
    got = found(index, query)
    assert got == {expected}


def test_absent_run_is_not_found(index: SearchIndex) -> None:
    """Pairs must stand side by side: characters that are all there, elsewhere, are no match."""
    got = found(index, "天今気日")
    assert got == set()


def test_stems_are_english_only(index: SearchIndex) -> None:
    """`hide` finds the English page that says hiding; German words are not stemmed as English."""
    got = (found(index, "hides"), found(index, "eichels"))
    assert got == ({"http://hazel.test/jays"}, set())


def test_some_words_if_no_page_has_all(index: SearchIndex) -> None:
    """If no page has all the words, pages with some are shown, and the result says so."""
    result = index.search("acorn volcano")
    got = (result.relaxed, {hit.url for hit in result.hits})
    assert got == (True, {"http://oak.test/", "http://hazel.test/jays"})


def test_relaxing_keeps_filters_and_refusals(index: SearchIndex) -> None:
    """`site:` and `-word` hold also when only some of the words are wanted."""
    got = found(index, "acorn hiding volcano site:hazel.test -tree")
    assert got == {"http://hazel.test/jays"}


def test_title_weighs_more_than_text(index: SearchIndex) -> None:
    """A word in the title ranks a page above one that has it in the text."""
    got = index.search("oak").hits[0].url
    assert got == "http://oak.test/"


def test_function_words_hardly_count(index: SearchIndex) -> None:
    """A word such as `the` in a title does not lift a page over one that is about the others."""
    got = next(hit.url for hit in index.search("the oak an acorn").hits)
    assert got == "http://oak.test/"


def test_snippet_marks_the_words(index: SearchIndex) -> None:
    """The snippet shows the words that were found, safe for HTML."""
    hits = index.search("jay acorn").hits
    got = hits[0].snippet.html()
    assert got == "A <b>jay</b> was hiding an <b>acorn</b> in the oak."


def test_function_words_are_not_marked(index: SearchIndex) -> None:
    """Words such as `an` are marked only where nothing else was looked for."""
    got = index.search("an acorn in the oak").hits[0].snippet.html("[", "]")
    assert got == "A jay was hiding an [acorn] in the [oak]."


def test_snippet_marks_runs(index: SearchIndex) -> None:
    """Characters of unspaced scripts are marked where the run stands."""
    got = index.search("天気").hits[0].snippet.html("[", "]")
    assert got == "今日の[天気]は晴れです。リスが木の実を食べる。Python入門"


def test_memory_is_no_page(index: SearchIndex) -> None:
    """What the index remembers is never a hit, nor counted."""
    got = (index.count(), len(index.urls()), index.memory(), len(found(index, "-volcano")))
    assert got == (len(PAGES), len(PAGES), {"segments": "20261130201530"}, len(PAGES))


def test_explanation_adds_fields(index: SearchIndex) -> None:
    """An explained hit names each word and field that add to its score."""
    words = index.search("oak", explain=True).hits[0].words
    got = {(one.word, one.field) for one in words}
    assert got >= {("oak", "title"), ("oak", "text"), ("oak", "host_words")}


def test_document_by_url(index: SearchIndex) -> None:
    """A page's document can be read back by its key; None if it is not in the index."""
    document = index.document("http://oak.test/")
    got = (document and document["title"], index.document("http://nowhere.test/"))
    assert got == (["The oak"], None)


def write(path: Path, *pages: Document) -> None:
    """Write pages in one commit."""
    with EmbeddedWriter(path, SETTINGS) as writer:
        for one in pages:
            writer.write(one)
        writer.commit()


def test_write_replaces_by_url(tmp_path: Path) -> None:
    """A URL stands once in the index: the last document of it stays, also within a commit."""
    url = "http://a.test/"
    write(tmp_path, page(url, "first"))
    write(tmp_path, page(url, "second"), page(url, "third"))
    index = SearchIndex.open(tmp_path, SETTINGS)
    got = (index.count(), found(index, "first"), found(index, "third"))
    assert got == (1, set(), {url})


def test_delete_by_url(tmp_path: Path) -> None:
    """A deleted URL is gone; deleting one that is not there does nothing."""
    write(tmp_path, page("http://a.test/", "oak"), page("http://b.test/", "oak"))
    with EmbeddedWriter(tmp_path, SETTINGS) as writer:
        held = (writer.holds("http://a.test/"), writer.holds("http://no.test/"))
        writer.delete("http://a.test/")
        writer.delete("http://no.test/")
        writer.commit()
    got = (held, SearchIndex.open(tmp_path, SETTINGS).urls())
    assert got == ((True, False), ["http://b.test/"])


def test_leaving_by_an_error_changes_nothing(tmp_path: Path) -> None:
    """What was not committed is dropped, also what was to be remembered."""
    write(tmp_path, page("http://a.test/", "oak"))

    def break_off() -> None:
        with EmbeddedWriter(tmp_path, SETTINGS) as writer:
            writer.write(page("http://b.test/", "oak"))
            writer.delete("http://a.test/")
            writer.remember({"segments": "1"})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    index = SearchIndex.open(tmp_path, SETTINGS)
    got = (index.urls(), index.memory())
    assert got == (["http://a.test/"], {})


def test_clear_starts_anew_at_the_commit(tmp_path: Path) -> None:
    """A cleared index keeps its old pages until the commit, and only the new ones after it."""
    write(tmp_path, page("http://a.test/", "oak"))
    writer = EmbeddedWriter(tmp_path, SETTINGS)
    writer.clear()
    with writer:
        writer.write(page("http://b.test/", "oak"))
        before = SearchIndex.open(tmp_path, SETTINGS).urls()
        writer.commit()
    got = (before, SearchIndex.open(tmp_path, SETTINGS).urls())
    assert got == (["http://a.test/"], ["http://b.test/"])


def test_second_writer_is_refused(tmp_path: Path) -> None:
    """One process writes an index at a time; the other is told so."""
    with (
        EmbeddedWriter(tmp_path, SETTINGS),
        pytest.raises(DataError, match="another process is writing"),
        EmbeddedWriter(tmp_path, SETTINGS),
    ):
        pass


def test_other_version_is_refused_and_can_be_made_anew(tmp_path: Path) -> None:
    """An index of another version is refused with the way out, and `clear` takes its place."""
    write(tmp_path, page("http://a.test/", "oak"))
    (tmp_path / "filbert-index-version").write_text("99\n")
    with pytest.raises(DataError, match="version 99"):
        SearchIndex.open(tmp_path, SETTINGS)
    writer = EmbeddedWriter(tmp_path, SETTINGS)
    writer.clear()
    with writer:
        writer.commit()
    got = SearchIndex.open(tmp_path, SETTINGS).count()
    assert got == 0


def test_no_index_is_a_user_error(tmp_path: Path) -> None:
    """Searching before indexing says what to run."""
    with pytest.raises(UserError, match="no index"):
        SearchIndex.open(tmp_path / "index", SETTINGS)


def test_page_score_moves_a_hit(tmp_path: Path) -> None:
    """Of two equal texts the page with the higher score comes first; with weight 0 the URL."""
    write(tmp_path, page("http://a.test/", "oak"), page("http://b.test/", "oak", boost=9.0))
    without = SearchSettings(score_weight=0.0)
    got = [
        [hit.url for hit in SearchIndex.open(tmp_path, settings).search("title:oak").hits]
        for settings in (SETTINGS, without)
    ]
    assert got == [["http://b.test/", "http://a.test/"], ["http://a.test/", "http://b.test/"]]


def test_hits_per_host(tmp_path: Path) -> None:
    """With `per_host` a host shows only so many of its pages; `offset` passes over hits."""
    write(tmp_path, *(page(f"http://{h}.test/{n}", "oak") for h in "ab" for n in range(3)))
    index = SearchIndex.open(tmp_path, SETTINGS)
    one_each = [hit.url for hit in index.search("title:oak", per_host=1).hits]
    second = [hit.url for hit in index.search("title:oak", limit=2, offset=2).hits]
    got = (one_each, second)
    assert got == (["http://a.test/0", "http://b.test/0"], ["http://a.test/2", "http://b.test/0"])


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.b.org/x", ["a.b.org", "b.org", "org"]),
        ("http://127.0.0.1:8000/", ["127.0.0.1", "127.0.0.1:8000"]),
        ("http://[::1]:80/", ["::1", "::1:80"]),
        ("file:/tmp/a.txt", []),
        ("http://bad:port:x/", []),
    ],
)
def test_site_terms(url: str, expected: list[str]) -> None:
    """`site:` knows the host, the domains above it, and host and port."""
    got = site_terms(url)
    assert got == expected
