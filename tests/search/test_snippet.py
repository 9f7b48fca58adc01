"""The part of a page that shows why it was found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from filbert.search.compile import Marks
from filbert.search.snippet import make_snippet, mark

NUT = Marks(words=frozenset({"nut"}), stems=frozenset({"nut"}))
FILLER = "lorem ipsum dolor sit amet " * 40


def test_window_lies_where_the_words_are() -> None:
    """The snippet is cut from where the words stand, between words, with ellipses."""
    got = make_snippet(f"{FILLER}the nut fell {FILLER}", NUT, 60).text
    assert got == "…the nut fell lorem ipsum dolor sit amet lorem ipsum dolor…"


def test_most_different_words_win() -> None:
    """A place with two of the words is better than many places of one."""
    marks = Marks(words=frozenset({"nut", "oak"}))
    text = f"nut nut nut nut {FILLER} the nut of the oak {FILLER}"
    got = make_snippet(text, marks, 60).html("[", "]")
    assert "[nut] of the [oak]" in got


def test_title_is_not_shown_again() -> None:
    """The title at the beginning of a text is not a part of the snippet."""
    got = make_snippet("The nut\n\nA nut is a fruit.", NUT, 60, title="The nut").html("[", "]")
    assert got == "A [nut] is a fruit."


def test_no_match_shows_the_beginning() -> None:
    """A page found by its title or anchors shows how its text begins."""
    got = make_snippet(FILLER, NUT, 30)
    assert (got.text, got.marks) == ("lorem ipsum dolor sit amet…", ())


def test_html_is_escaped() -> None:
    """Text of a page never becomes markup."""
    got = make_snippet("a <script>nut</script> & so", NUT, 200).html()
    assert got == "a &lt;script&gt;<b>nut</b>&lt;/script&gt; &amp; so"


def test_stems_and_spellings_are_marked() -> None:
    """Marks are on the word as the page spells it."""
    got = mark("Nüts and NUTS, not nutmeg", NUT).html("[", "]")
    assert got == "[Nüts] and [NUTS], not nutmeg"


def test_runs_are_marked_in_original_width() -> None:
    """Half-width kana are marked where they stand in the page."""
    got = mark("木のﾘｽです", Marks(runs=("リス",))).html("[", "]")
    assert got == "木の[ﾘｽ]です"


@given(
    text=st.text(alphabet="nut o.,\n<漢字e\u0301😀", max_size=300),
    length=st.integers(min_value=20, max_value=100),
)
def test_marks_stay_inside(text: str, length: int) -> None:
    """A snippet keeps its length, and its marks are ordered places inside it."""
    marks = Marks(words=frozenset({"nut", "o"}), runs=("漢字", "字"))
    got = make_snippet(text, marks, length)
    places = [place for mark_ in got.marks for place in mark_]
    assert len(got.text) <= length + 2
    assert places == sorted(places)
    assert all(0 <= place <= len(got.text) for place in places)


def test_a_cut_keeps_whole_words_and_their_marks() -> None:
    """A title is cut between words, a mark behind the cut goes; a shorter one stays as it is."""
    title = mark("The nut, and another nut", NUT)
    assert title.cut(24) == title
    assert title.cut(23).html() == "The <b>nut</b>, and another…"
    assert title.cut(8).html() == "The <b>nut</b>…"
