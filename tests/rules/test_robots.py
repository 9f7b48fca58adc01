"""Reading robots.txt: RFC 9309 section by section, then what the standard leaves open."""

from __future__ import annotations

import codecs
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filbert.rules.robots import RobotsRules, RobotsVerdict, parse_robots

if TYPE_CHECKING:
    from pathlib import Path

SITE = "https://example.com"


def _allowed(text: str, path: str, *agents: str) -> bool:
    return parse_robots(text.encode(), agents or ("mybot",)).judge(SITE + path).allowed


# ------------------------------------------------------------------ RFC 9309, the standard says


@pytest.mark.parametrize(
    ("line", "agent", "ours"),
    [
        ("mybot", "MyBot", True),
        ("MYBOT", "mybot", True),
        ("mybot/2.1", "mybot", True),
        ("mybot (crawler)", "mybot", True),
        ("my", "mybot", False),
        ("mybot-news", "mybot", False),
        ("mybot", "mybot-news", False),
        ("foo mybot", "mybot", False),
    ],
)
def test_an_agent_is_matched_by_its_whole_token(line: str, agent: str, ours: bool) -> None:
    """2.2.1: product tokens are compared whole, in any case; no prefix and no part matches."""
    assert _allowed(f"User-agent: {line}\nDisallow: /x", "/x", agent) is not ours


def test_groups_of_one_agent_are_merged() -> None:
    """2.2.1, figure 2: rules of all groups of an agent count."""
    text = (
        "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: OtherBot\n"
        "disallow: /baz\n\nuser-agent: ExampleBot\ndisallow: /baz\n"
    )
    got = [_allowed(text, path, "ExampleBot") for path in ("/foo", "/bar", "/baz", "/boo")]
    assert got == [False, False, False, True]


def test_the_star_group_is_for_those_not_named() -> None:
    """2.2.1: `*` counts only when no group names the robot; without it all is allowed."""
    text = "User-agent: *\nDisallow: /\n\nUser-agent: mybot\nDisallow: /x\n"
    assert (_allowed(text, "/y", "mybot"), _allowed(text, "/y", "other")) == (True, False)
    assert _allowed("User-agent: other\nDisallow: /", "/y", "mybot")


def test_several_agents_share_a_group() -> None:
    """2.2: consecutive User-agent lines begin one group."""
    text = "User-agent: a\nUser-agent: mybot\nUser-agent: c\nDisallow: /x\n"
    assert [_allowed(text, "/x", name) for name in ("a", "mybot", "c", "d")] == [
        False,
        False,
        False,
        True,
    ]


def test_the_longest_match_decides() -> None:
    """2.2.2: the rule with most octets wins, wherever it stands."""
    text = "User-agent: *\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
    assert not _allowed(text, "/example/page/disallowed.gif")
    assert _allowed(text, "/example/page/other.gif")


def test_allow_wins_a_tie() -> None:
    """2.2.2: of equivalent rules Allow is used."""
    assert _allowed("User-agent: *\nDisallow: /a\nAllow: /a\n", "/a")
    assert _allowed("User-agent: *\nAllow: /*.html\nDisallow: /a.htm*\n", "/a.html")


def test_paths_are_case_sensitive_and_start_at_the_root() -> None:
    """2.2.2: matching is case-sensitive and from the first octet."""
    assert _allowed("User-agent: *\nDisallow: /x", "/X")
    assert _allowed("User-agent: *\nDisallow: /x", "/a/x")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7a"),
        ("/a%3cd", "/a%3Cd"),
        ("/a b", "/a%20b"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
        ("/q?a=1&b", "/q?a=1&b=2"),
    ],
)
def test_encodings_of_one_octet_are_equal(pattern: str, path: str) -> None:
    """2.2.2 and 2.2.3: pattern and path are brought to one spelling before they are compared."""
    assert not _allowed(f"User-agent: *\nDisallow: {pattern}", path)


def test_an_encoded_slash_is_no_slash() -> None:
    """2.2.2: reserved characters stay encoded."""
    assert _allowed("User-agent: *\nDisallow: /a/b", "/a%2Fb")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/fish*", "/fish.html", True),
        ("/*.php", "/folder/any.php.file.html", True),
        ("/*.php", "/windows.PHP", False),
        ("/*.php$", "/filename.php", True),
        ("/*.php$", "/filename.php?parameters", False),
        ("/*.php$", "/a.php/b.php", True),
        ("/fish*.php", "/fishheads/catfish.php?parameters", True),
        ("/fish*.php", "/Fish.PHP", False),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/*s=", "/?s=query", True),
        ("*/x", "/deep/x", True),
        ("/a*b*a$", "/aba", True),
        ("/ab*ba$", "/aba", False),
        ("/$", "/", True),
        ("/$", "/index.html", False),
    ],
)
def test_special_characters(pattern: str, path: str, matches: bool) -> None:
    """2.2.3: `*` is any run of characters, `$` the end of the path with its query."""
    assert _allowed(f"User-agent: *\nDisallow: {pattern}", path) is not matches


def test_other_records_do_not_interfere() -> None:
    """2.2.4: Sitemap, Crawl-delay and unknown records end neither a group nor a list of agents."""
    text = (
        "User-agent: mybot\nCrawl-delay: 2\nUser-agent: other\nDisallow: /a\n"
        "Sitemap: https://example.com/s.xml\nHost: example.com\nDisallow: /b\n"
    )
    rules = parse_robots(text.encode(), ["mybot"])
    got = [rules.judge(SITE + path).allowed for path in ("/a", "/b", "/c")]
    assert (got, rules.crawl_delay_ms) == ([False, False, True], 2000)
    assert rules.sitemaps == ("https://example.com/s.xml",)


def test_robots_txt_itself_is_allowed() -> None:
    """2.2.2: the file itself is implicitly allowed."""
    assert _allowed("User-agent: *\nDisallow: /", "/robots.txt")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_line_ends(end: str) -> None:
    """2.2: CR, LF and CRLF all end a line, and lines are numbered by them."""
    text = end.join(["User-agent: *", "# a comment", "Disallow: /x # why", ""])
    verdict = parse_robots(text.encode(), ["mybot"]).judge(f"{SITE}/x")
    assert verdict == RobotsVerdict(allowed=False, rule="Disallow: /x", line=3)


def test_the_limit_of_500_kib() -> None:
    """2.5: at least 500 KiB are read, and what lies beyond the limit is not."""
    filler = b"# " + b"x" * 1000 + b"\n"
    body = b"User-agent: *\n" + filler * 505 + b"Disallow: /x\n"
    assert len(body) - 20 < 500 * 1024
    assert not parse_robots(body, ["mybot"]).judge(f"{SITE}/x").allowed
    assert parse_robots(filler * 600 + body, ["mybot"]).judge(f"{SITE}/x").allowed


# ------------------------------------------------------------------------------- we choose


@pytest.mark.parametrize(
    "body",
    [
        codecs.BOM_UTF8 + b"User-agent: *\nDisallow: /x",
        codecs.BOM_UTF16_LE + "User-agent: *\nDisallow: /x".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "User-agent: *\nDisallow: /x".encode("utf-16-be"),
        "User-agent: *\nDisallow: /x".encode("utf-16-le"),
        "User-agent: *\nDisallow: /x".encode("utf-16-be"),
    ],
)
def test_byte_order_marks_and_utf_16(body: bytes) -> None:
    """A file saved by a word processor is still obeyed."""
    assert not parse_robots(body, ["mybot"]).judge(f"{SITE}/x").allowed


def test_bytes_that_are_no_utf_8_match_themselves() -> None:
    """A Latin-1 path matches the URL with the same octet encoded."""
    rules = parse_robots(b"User-agent: *\nDisallow: /caf\xe9", ["mybot"])
    assert not rules.judge(f"{SITE}/caf%E9").allowed


def test_a_page_served_as_robots_txt_matches_nothing() -> None:
    """5 % of all robots.txt are HTML pages; they forbid nothing."""
    html = "<!DOCTYPE html>\n<html><body>\nUser-agent: *<br>Disallow: /\n</body></html>"
    assert len(parse_robots(html.encode(), ["mybot"])) == 0


@pytest.mark.parametrize(
    ("line", "delay"),
    [
        ("Crawl-delay: 1.5", 1500),
        ("Crawl-delay: 0", 0),
        ("Crawl-delay: -3", None),
        ("Crawl-delay: soon", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: 5\nCrawl-delay: 7\nCrawl-delay: 6", 7000),
        ("Crawl-delay: 1e400", 10**12),
    ],
)
def test_crawl_delay(line: str, delay: int | None) -> None:
    """Crawl-delay is in seconds; of several the longest holds; nonsense is no delay."""
    assert parse_robots(f"User-agent: *\n{line}".encode(), ["mybot"]).crawl_delay_ms == delay


def test_misspellings_and_missing_colons_are_read() -> None:
    """What was meant is obeyed: to be lenient here is to be polite."""
    text = "useragent: *\nDissalow: /a\nDisallow /b\n"
    assert [_allowed(text, path) for path in ("/a", "/b", "/c")] == [False, False, True]


def test_sitemaps_are_absolute_and_each_once() -> None:
    """Relative sitemaps are resolved against the file; empty ones and doubles are dropped."""
    text = b"Sitemap: /a.xml\nsitemap: https://other.org/B.xml\nSitemap:\nSitemap: /a.xml\n"
    rules = parse_robots(text, ["mybot"], url=f"{SITE}/robots.txt")
    assert rules.sitemaps == (f"{SITE}/a.xml", "https://other.org/B.xml")


def test_a_url_on_a_line_of_its_own_is_a_sitemap() -> None:
    """crawler-commons reads it as one if it says so; any other URL is no record."""
    text = "http://a.example/dir/my-sitemap.xml\nhttps://a.example/SiteMap\nhttps://a.example/map\n"
    got = parse_robots(text.encode(), ["mybot"], url=f"{SITE}/robots.txt").sitemaps
    assert got == ("http://a.example/dir/my-sitemap.xml", "https://a.example/SiteMap")


def test_the_text_between_tags_is_read() -> None:
    """A robots.txt that was written as a page means what its lines say."""
    html = "<html>User-agent: *\n<p>Disallow: /a</p>\n</html>"
    rules = parse_robots(html.encode(), ["mybot"])
    assert [rules.judge(f"{SITE}{path}").allowed for path in ("/a", "/b")] == [False, True]


def test_the_verdict_names_the_line() -> None:
    """A person can be told which line of the file decided."""
    rules = parse_robots(b"User-agent: *\n\nDisallow: /private/", ["mybot"])
    assert str(rules.judge(f"{SITE}/private/x")) == "Disallow: /private/ (line 3)"


def test_forbid_all_and_allow_all() -> None:
    """The two answers without a file."""
    assert RobotsRules.allow_all().judge(f"{SITE}/x").allowed
    assert not RobotsRules.forbid_all().judge(f"{SITE}/x").allowed


def test_time_is_linear_in_hostile_files() -> None:
    """A thousand wildcards against a long path, and 20,000 literals, take milliseconds."""
    stars = "User-agent: *\n" + "".join(f"Disallow: /{'a*' * 60}b{n}\n" for n in range(1000))
    literals = "User-agent: *\n" + "".join(
        f"Disallow: /p/{'x' * (n % 50)}/{n}\n" for n in range(20_000)
    )
    wild = parse_robots(stars.encode(), ["mybot"], size_limit=10**7)
    plain = parse_robots(literals.encode(), ["mybot"], size_limit=10**7)
    start = time.perf_counter()
    assert wild.judge(f"{SITE}/{'a' * 2000}").allowed
    for _ in range(1000):
        assert plain.judge(f"{SITE}/p/{'x' * 49}/nowhere").allowed
    assert time.perf_counter() - start < 1.0


_PIECES = st.sampled_from(["/", "a", "b", "ab", "*", "$", "%61", "%2a", "?", "é"])


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.booleans(), st.lists(_PIECES, min_size=1, max_size=6)), max_size=8),
    st.lists(_PIECES, max_size=8),
)
def test_the_index_agrees_with_trying_every_rule(
    rules: list[tuple[bool, list[str]]], path: list[str]
) -> None:
    """Bisection and the order of wildcards give what a plain search for the best rule gives."""
    lines = [f"{'Allow' if allow else 'Disallow'}: /{''.join(p)}" for allow, p in rules]
    url = f"{SITE}/{''.join(path)}"
    whole = parse_robots("\n".join(["User-agent: *", *lines]).encode(), [])
    best: tuple[int, bool] = (-1, True)
    for line in lines:
        one = parse_robots(f"User-agent: *\n{line}".encode(), [])
        verdict = one.judge(url)
        if verdict.line:
            best = max(best, (len(verdict.rule.partition(": ")[2]), verdict.allowed))
    assert whole.judge(url).allowed == best[1]


@settings(max_examples=40)
@given(st.binary(max_size=300), st.text(max_size=30))
def test_no_bytes_and_no_url_raise(body: bytes, url: str) -> None:
    """Any bytes are a robots.txt, any text is a URL."""
    parse_robots(body, ["mybot"], url=f"{SITE}/robots.txt").judge(url)


# ---------------------------------------------------- crawler-commons (Nutch: tests/testing)


@pytest.mark.parametrize(
    ("file", "agent", "path", "allowed"),
    [
        ("rfc9309-example-simple-robots.txt", "foobot", "/example/page.html", True),
        ("rfc9309-example-simple-robots.txt", "other", "/a.gif", False),
        ("rfc9309-example-simple-robots.txt", "foobot", "/example/disallowed.gif", False),
        ("rfc9309-example-simple-robots.txt", "bazbot", "/", True),
        ("rfc9309-example-simple-robots.txt", "quxbot", "/", True),
        ("rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/", True),
        (
            "rfc9309-example-longest-match-robots.txt",
            "foobot",
            "/example/page/disallowed.gif",
            False,
        ),
        ("crawl-delay-group-merging.txt", "mybot", "/login/", True),
        ("crawl-delay-group-merging.txt", "mybot", "/private/", False),
        ("crawl-delay-group-merging.txt", "yourbot", "/private/", False),
        ("crawl-delay-group-merging.txt", "other", "/private/", True),
        ("merge-rules.txt", "wget", "/foo/bar", True),
        ("merge-rules.txt", "wget", "/tmp/bar", False),
        ("merge-rules.txt", "other", "/foo/bar", False),
        ("robots-with-utf16be-bom.txt", "foobot", "/profile", False),
        ("robots-with-utf16le-bom.txt", "foobot", "/profile", False),
        ("robots-with-utf8-bom.txt", "foobot", "/profile", False),
    ],
)
def test_files_of_crawler_commons(
    shared_dir: Path, file: str, agent: str, path: str, allowed: bool
) -> None:
    """The files that crawler-commons tests with, with the answers of RFC 9309."""
    body = (shared_dir / "peer-data" / "crawler-commons" / "robots" / file).read_bytes()
    assert parse_robots(body, [agent]).judge(SITE + path).allowed is allowed
