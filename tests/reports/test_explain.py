"""`explain` says what is known of a URL, and why it is not known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from filbert.cli.explain import command
from filbert.model.statuses import FetchStatus, PageStatus, ProtocolStatus
from filbert.reports.explain import explain
from filbert.search.writer import EmbeddedWriter
from filbert.settings import Settings
from filbert.settings.http import HttpSettings
from filbert.settings.search import SearchSettings
from filbert.store.segments import AGENTS
from filbert.store.tables import Commit
from filbert.testing.paper_crawl import NOW, PaperCrawl

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.rules.explain_facts import Statement

OAK, ACORNS, OLD = "http://oak.test/", "http://oak.test/acorns", "http://oak.test/old"
MOVED, SECRET, PURGED = "http://oak.test/moved", "http://oak.test/secret", "http://oak.test/p"
LATER = NOW + 60_000
TWIN = "http://oak.test/twin"
Said = Mapping[str, Any]
ROBOTS = b"User-agent: *\nDisallow: /secret\n"


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> PaperCrawl:
    """Two rounds of a crawl with a redirect, a gone page, a forbidden and a purged one."""
    paper = PaperCrawl(tmp_path_factory.mktemp("explain") / "crawl")
    seen = {"origin": "link", "origin_url": OAK, "first_seen": NOW + 1000}
    paper.rows(
        "origins",
        [
            {"url": OAK, "origin": "seed", "origin_url": "seeds.txt:3", "first_seen": NOW - 9000},
            *({"url": url, **seen} for url in (ACORNS, OLD, SECRET)),
        ],
    )
    paper.crawldb(
        {OAK: {"status": PageStatus.DB_UNFETCHED, "fetch_time": NOW - 9000}}, step="inject"
    )
    links = [
        {"url": url, "from_url": OAK, "kind": "outlink", "anchor": "see", "fetch_time": NOW}
        for url in (ACORNS, OLD, SECRET, PURGED)
    ]
    first = paper.segment(
        {
            OAK: {
                "text": "Acorns fall",
                "title": "Oak",
                "http_status": 200,
                "warc_file": "part-00000.warc.gz",
                "warc_offset": 10,
                "warc_length": 234,
                "parsed": {
                    "outlinks_found": 6,
                    "outlinks_kept": 4,
                    "outlinks_dropped": {"regex": "2"},
                },
            }
        },
        links=links,
    )
    fetched: Said = {
        "status": PageStatus.DB_FETCHED,
        "signature": b"\x01\x02" * 8,
        "fetch_time": NOW + 30 * 86_400_000,
    }
    new: Said = {"status": PageStatus.DB_UNFETCHED, "fetch_time": NOW}
    pages: dict[str, PageStatus | Said] = {
        OAK: fetched,
        ACORNS: new,
        OLD: new,
        SECRET: new,
        PURGED: new,
    }
    paper.crawldb(pages, absorbs=[first])
    second = paper.segment(
        {
            OLD: {"status": FetchStatus.FETCH_GONE, "http_status": 404},
            SECRET: {
                "status": FetchStatus.FETCH_GONE,
                "protocol_code": ProtocolStatus.ROBOTS_DENIED,
                "reason": "robots_denied",
                "robots_rule": "Disallow: /secret (line 2)",
            },
            MOVED: {
                "status": FetchStatus.FETCH_REDIR_PERM,
                "redirect_url": "http://oak.test/a.gif",
                "redirect_verdict": "filtered",
            },
        }
    )
    twin: Said = {**fetched, "status": PageStatus.DB_DUPLICATE}
    gone: Said = {"status": PageStatus.DB_GONE}
    later: dict[str, PageStatus | Said] = {
        OAK: fetched,
        ACORNS: {**new, "retries": 2},
        OLD: gone,
        SECRET: gone,
        TWIN: twin,
    }
    paper.crawldb(later, absorbs=[second])
    paper.rows("linkdb", [{"url": OAK, "from_url": "http://elm.test/", "anchor": "the oak"}])
    paper.rows(
        "hostdb",
        [
            {
                "host": "http://oak.test",
                "robots_url": "http://oak.test/robots.txt",
                "robots_time": NOW,
                "robots_status": 200,
                "robots_body": ROBOTS,
            }
        ],
    )
    search = SearchSettings(writer_memory_mb=16)
    with EmbeddedWriter(paper.folder.index_dir, search) as writer:
        writer.remember({"segments": first.name, "crawldb_version": "2"})
        writer.commit()
    return paper


def told(paper: PaperCrawl, url: str) -> list[Statement]:
    """All statements on a URL."""
    return explain(paper.folder, Settings(), url, LATER)


def texts(statements: list[Statement], part: str) -> list[str]:
    """The sentences of one part."""
    return [one.text for one in statements if one.part == part]


def test_history_in_order_of_time(paper: PaperCrawl) -> None:
    """Everything that happened is there, oldest first, with what changed."""
    events = [one for one in told(paper, OAK) if one.part == "history"]
    got = [one.kind for one in events]
    times = [one.time for one in events]
    assert got == ["seen", "generated", "fetched", "parsed", "crawldb", "crawldb"]
    assert times == sorted(time for time in times if time is not None)
    assert events[0].text == "First seen: it was a seed: seeds.txt:3"
    assert "capture: part-00000.warc.gz at 10, 234 bytes" in events[2].notes
    assert "6 links found, 4 kept; dropped: regex 2" in events[3].notes
    assert "signature none → 010201020102" in events[5].notes


def test_answer_says_due_and_index(paper: PaperCrawl) -> None:
    """The answer has status, last fetch, when it is due, and the index."""
    (got,) = texts(told(paper, OAK), "answer")
    assert got.startswith("It is in the crawldb as db_fetched: it was fetched. Its last fetch,")
    assert "gave fetch_success, HTTP 200." in got
    assert "It is not due before" in got
    assert got.endswith(
        "It is not in the index: an index filter left it out, or it changed after"
        " the last `filbert index`."
    )


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (ACORNS, "fetching it failed 2 times in a row, and it will be tried again"),
        (ACORNS, "It is due: the next generate may choose it"),
        (OLD, "as db_gone: its server says that it does not exist."),
        (OLD, "gave fetch_gone, HTTP 404."),
        (SECRET, "as db_gone: robots.txt forbids it."),
        (TWIN, f"it is a duplicate of {OAK}."),
        (TWIN, f"It is not in the index: it is a duplicate of {OAK}, which is indexed instead."),
        (SECRET, "and not asked for: fetch_gone, robots_denied, by Disallow: /secret (line 2)."),
        (PURGED, "It is not in the crawldb any more: updatedb took it out"),
        ("http://oak.test/b.gif", "would not be let in: regex refuses it by `regex-urlfilter.txt"),
        ("http://oak.test/a.gif", "would not be let in"),
        ("http://oak.test/acrons", "no seed names it, and no page that was fetched"),
        ("http://x.test/", "No URL of the host x.test is known."),
    ],
)
def test_answers(paper: PaperCrawl, url: str, sentence: str) -> None:
    """The first sentences say how it stands, also for what is not known."""
    got = " ".join(texts(told(paper, url), "answer"))
    assert sentence in got


def test_nearest_urls(paper: PaperCrawl) -> None:
    """For a URL that is not known the nearest known ones are named, the most alike first."""
    near = [one for one in told(paper, "http://oak.test/acrons") if one.kind == "host_known"]
    assert near[0].notes[0] == ACORNS


def test_rules_with_their_lines(paper: PaperCrawl) -> None:
    """Each normaliser, filter and robots.txt is named with the line that decided."""
    got = texts(told(paper, "HTTP://oak.test:80/secret/#x"), "rules")
    assert got[0] == "normaliser basic makes it http://oak.test/secret/"
    assert any(text.startswith("filter regex accepts it by") for text in got)
    assert "it would be stored under http://oak.test/secret/" in got
    assert got[-1] == (
        "http://oak.test/robots.txt forbids it by `Disallow: /secret (line 2)`, in the group for *"
    )


@pytest.mark.parametrize("names", [{"agent_name": "oakbot"}, {"robots_agents": ("oakbot",)}])
def test_robots_are_read_as_the_fetcher_reads_them(tmp_path: Path, names: dict[str, Any]) -> None:
    """Every name that the fetcher answers to chooses the group, http.robots_agents too."""
    paper = PaperCrawl(tmp_path / "crawl")
    known = {
        "host": "http://oak.test",
        "robots_time": NOW,
        "robots_status": 200,
        "robots_body": ROBOTS + b"\nUser-agent: oakbot\nAllow: /\n",
    }
    paper.rows("hostdb", [known])
    said = explain(paper.folder, Settings(http=HttpSettings(**names)), SECRET, NOW)
    got = texts(said, "rules")[-1]
    assert ("allows it" in got, "in the group for oakbot" in got) == (True, True)


def test_a_redirect_is_told_with_what_became_of_its_target(tmp_path: Path) -> None:
    """What is known of the target now; a redirect that names none says so."""
    paper = PaperCrawl(tmp_path / "crawl")
    moved: Said = {
        "status": FetchStatus.FETCH_REDIR_PERM,
        "redirect_url": OLD,
        "redirect_verdict": "linked",
    }
    astray: Said = {"status": FetchStatus.FETCH_REDIR_TEMP, "redirect_verdict": "no_target"}
    segment = paper.segment({MOVED: moved, ACORNS: astray})
    known: Said = {"status": PageStatus.DB_REDIR_PERM, "fetch_time": NOW}
    paper.crawldb(
        {MOVED: known, ACORNS: known, OLD: {**known, "status": PageStatus.DB_FETCHED}},
        absorbs=[segment],
    )

    def notes(url: str) -> str:
        said = explain(paper.folder, Settings(), url, NOW)
        return next(one.notes for one in said if one.kind == "fetched")[-1]

    assert notes(MOVED) == (
        f"redirects to {OLD}; that was left to the next round, and is in the crawldb as db_fetched"
    )
    assert notes(ACORNS) == "redirects to nowhere; that was dropped: no target was named"


def test_the_robot_of_the_last_fetch_is_judged_for(tmp_path: Path) -> None:
    """Its name may have been given to that fetch alone."""
    paper = PaperCrawl(tmp_path / "crawl")
    known = {
        "host": "http://oak.test",
        "robots_time": NOW,
        "robots_status": 200,
        "robots_body": ROBOTS + b"\nUser-agent: oakbot\nAllow: /\n",
    }
    paper.rows("hostdb", [known])
    segment = paper.segment({OAK: {"text": "x"}})
    noted = Commit(step="fetch", metadata={AGENTS: '["oakbot"]'})
    segment.table("crawl_fetch").commit(noted)
    got = texts(explain(paper.folder, Settings(), SECRET, NOW), "rules")[-1]
    assert ("allows it" in got, "in the group for oakbot" in got) == (True, True)


def test_scheme_may_be_left_out(paper: PaperCrawl) -> None:
    """A person may leave out http://."""
    got = texts(told(paper, "oak.test/old"), "answer")[0]
    assert "It is in the crawldb as db_gone" in got


def test_links(paper: PaperCrawl) -> None:
    """Links to it and from it are listed."""
    statements = {one.kind: one for one in told(paper, OAK) if one.part == "links"}
    got = (statements["inlinks"].notes, statements["outlinks"].text)
    assert got == (("http://elm.test/ “the oak”",), "It links to 4 pages:")


def test_pending_segment(tmp_path: Path) -> None:
    """A page in a segment that updatedb has not seen is locked until the lock runs out."""
    paper = PaperCrawl(tmp_path / "crawl")
    segment = paper.segment({OAK: {"text": "x"}})
    paper.crawldb(
        {OAK: {"status": PageStatus.DB_UNFETCHED, "fetch_time": NOW, "generate_time": NOW}}
    )
    got = " ".join(texts(told(paper, OAK), "answer"))
    assert f"It is in {segment.name}, which updatedb has not absorbed" in got


def test_due_and_in_a_fetch_list_already(tmp_path: Path) -> None:
    """Without generate's lock a page may be due and wait in a fetch list: the answer says which."""
    paper = PaperCrawl(tmp_path / "crawl")
    done = paper.segment({OAK: {"text": "x"}})
    paper.crawldb({OAK: {"status": PageStatus.DB_UNFETCHED, "fetch_time": NOW}}, absorbs=[done])
    before = " ".join(texts(told(paper, OAK), "answer"))
    waiting = paper.segment({OAK: {"text": "x"}})
    got = " ".join(texts(told(paper, OAK), "answer"))
    assert "the next generate may choose it" in before
    assert f"in the fetch list of {waiting.name}, which updatedb has not absorbed." in got


def test_nothing_changes(paper: PaperCrawl) -> None:
    """Explaining leaves every file of the crawl folder as it was."""
    before = sorted((p, p.stat().st_mtime_ns) for p in paper.folder.path.rglob("*"))
    told(paper, OAK)
    told(paper, "http://x.test/")
    got = sorted((p, p.stat().st_mtime_ns) for p in paper.folder.path.rglob("*"))
    assert got == before


def test_door(paper: PaperCrawl) -> None:
    """JSON lines hold each statement with its values; an unknown URL is exit code 1."""
    arguments = [str(paper.folder.path), OAK, "--format", "jsonl"]
    known = CliRunner().invoke(command, arguments, standalone_mode=False)
    lines = [json.loads(line) for line in known.output.splitlines()]
    unknown = CliRunner().invoke(
        command, [str(paper.folder.path), "http://x.test/"], standalone_mode=False
    )
    fetched = next(line for line in lines if line["kind"] == "fetched")
    assert (fetched["http_status"], fetched["warc_offset"], known.return_value) == (200, 10, 0)
    assert (unknown.return_value, "What the rules say now" in unknown.output) == (1, True)


def test_due_and_refused(paper: PaperCrawl, tmp_path: Path) -> None:
    """A page that is due and that the rules refuse now is not promised to generate."""
    deny = tmp_path / "deny.txt"
    deny.write_text("-acorns\n+.\n", encoding="utf-8")
    settings = Settings.model_validate({"urls": {"regex_filter_file": str(deny)}})
    when = NOW + 400 * 86_400_000
    (answer,) = (
        one.text for one in explain(paper.folder, settings, ACORNS, when) if one.kind == "known"
    )
    assert "but generate leaves it out: regex refuses it now by `deny.txt:1 -acorns`." in answer
    assert "may choose it" not in answer


def test_a_redirect_to_itself_is_not_indexed_elsewhere(tmp_path: Path) -> None:
    """What became of a redirect's target is said as it was, not as it mostly is."""
    paper = PaperCrawl(tmp_path / "crawl")
    segment = paper.segment(
        {
            OLD: {
                "status": FetchStatus.FETCH_REDIR_TEMP,
                "http_status": 302,
                "redirect_url": OLD,
                "redirect_verdict": "self",
            }
        }
    )
    paper.crawldb({OLD: PageStatus.DB_REDIR_TEMP}, absorbs=[segment])
    with EmbeddedWriter(paper.folder.index_dir, SearchSettings()) as writer:
        writer.commit()
    (said,) = (
        one.text for one in explain(paper.folder, Settings(), OLD, NOW) if one.kind == "known"
    )
    assert f"it redirects to {OLD}, which was dropped: it leads to itself" in said


def test_no_robots_for_what_is_no_url(paper: PaperCrawl) -> None:
    """A text that is no URL has no robots.txt, and a blank one is wrong use."""
    assert not [one for one in told(paper, "http://") if "robots" in one.text]
    done = CliRunner().invoke(command, [str(paper.folder.path), "  "])
    assert (done.exit_code, "it is blank" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("not a url", "'not a url' has no scheme; write http:// or https:// first"),
        ("/a", "'/a' has no scheme"),
        ("mailto:x@y.test", "'mailto:x@y.test': schemes are file, ftp, http, https"),
        ("http://", "'http:/' names no host"),
        ("http://[::1", "normalizer basic says that it is no URL"),
        ("http://oak.test:99999/", "has the port 99999; ports end at 65535"),
    ],
)
def test_what_inject_would_not_take(paper: PaperCrawl, asked: str, why: str) -> None:
    """What is no URL to inject is none to explain: the same reason, nothing of hosts or robots."""
    said = [one for one in told(paper, asked) if one.part == "answer"]
    assert [one.kind for one in said] == ["no_url"]
    assert said[0].text.startswith("It is not in the crawldb, and cannot be: ")
    assert why in said[0].text
    assert not [one for one in told(paper, asked) if one.kind == "robots"]


def test_a_key_is_stored_only_where_the_page_is_known(paper: PaperCrawl) -> None:
    """Of a page that is not there it is said where it would be."""
    known, unknown = told(paper, f"{OAK}#top"), told(paper, "http://oak.test/none#top")
    got = [one.text for one in (*known, *unknown) if one.kind == "key"]
    assert got == [
        f"it is stored under {OAK}",
        "it would be stored under http://oak.test/none",
    ]


@pytest.mark.parametrize("asked", ["oak.test", "oak.test/", "OAK.test/#top", "oak.test:80/"])
def test_a_url_without_its_scheme_is_found(paper: PaperCrawl, asked: str) -> None:
    """Host, port and path are enough, in any spelling that the normalisers make equal."""
    assert told(paper, asked)[0].kind == "known"


def test_a_fetch_that_is_not_absorbed(tmp_path: Path) -> None:
    """Fetched, and the crawldb does not know: no sentence says that it was not fetched."""
    paper = PaperCrawl(tmp_path / "crawl")
    paper.crawldb({OAK: {"status": PageStatus.DB_UNFETCHED, "fetch_time": NOW}}, step="inject")
    segment = paper.segment({OAK: {"text": "x"}})
    with EmbeddedWriter(paper.folder.index_dir, SearchSettings()) as writer:
        writer.commit()
    got = " ".join(one.text for one in told(paper, OAK))
    before = f"so it was before segment {segment.name}, which updatedb has not absorbed."
    assert f"as db_unfetched: {before}" in got
    assert f"updatedb has not absorbed its fetch with segment {segment.name}" in got
    assert "has not been fetched" not in got


def test_a_redirect_that_goes_on(tmp_path: Path) -> None:
    """What came of the target since is not guessed: the redirect itself is not indexed."""
    paper = PaperCrawl(tmp_path / "crawl")
    said = {"redirect_url": OAK, "redirect_verdict": "linked"}
    segment = paper.segment({OLD: {"status": FetchStatus.FETCH_REDIR_PERM, **said}})
    paper.crawldb({OLD: PageStatus.DB_REDIR_PERM}, absorbs=[segment])
    with EmbeddedWriter(paper.folder.index_dir, SearchSettings()) as writer:
        writer.commit()
    (got,) = texts(told(paper, OLD), "answer")
    assert got.endswith(f"it redirects to {OAK}, and a redirect itself is not indexed.")
