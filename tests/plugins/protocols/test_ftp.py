"""The ftp plugin: files and folders in the words of HTTP, whatever the server does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from filbert.model.records import FetchRequest
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols.ftp import FtpProtocol
from filbert.rules.robots_answer import RobotsMeaning, robots_meaning
from filbert.rules.urls import resolve
from filbert.settings import Settings
from filbert.settings.ftp import FtpSettings
from filbert.settings.http import HttpSettings
from filbert.testing.raw_ftp_server import SILENCE, RawFtpServer, raw_ftp_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filbert.model.records import ProtocolOutput

TREE = {"/a.txt": b"0123456789", "/pub/b c&.html": b"<html>", "/pub/deep/x": b""}
MARCH_2025 = 1_741_521_660_000  # 2025-03-09T12:01:00Z: what the test server's MDTM says


def settings(*, allow: bool = True, time_limit_s: int = 2, **ftp: Any) -> Settings:
    """Settings under which loopback may be asked, unless it may not."""
    allowed = ("loopback",) if allow else ()
    http = HttpSettings(allow_addresses=allowed, time_limit_s=time_limit_s)
    return Settings(http=http, ftp=FtpSettings(**{"timeout_ms": 1_000, **ftp}))


def fetch_all(
    server: RawFtpServer, urls: Sequence[str], made: Settings, **request: Any
) -> list[ProtocolOutput]:
    """Fetch URLs below a server's root, one after the other."""

    async def run() -> list[ProtocolOutput]:
        async with (
            raw_ftp_server(server),
            FtpProtocol.from_settings(made, Path("nowhere")) as protocol,
        ):
            requests = [FetchRequest(url=server.url + url, **request) for url in urls]
            return [await protocol.fetch(request) for request in requests]

    return asyncio.run(run())


def fetch(url: str = "a.txt", made: Settings | None = None, **server: Any) -> ProtocolOutput:
    """Fetch one URL of a server that behaves as the words say."""
    return fetch_all(RawFtpServer(TREE, **server), [url], made or settings())[0]


def test_a_file() -> None:
    """A file comes with its type by name, its date by MDTM, and the server's address."""
    output = fetch()
    assert (output.status, output.http_status) == (ProtocolStatus.SUCCESS, 200)
    assert (output.body, output.content_type) == (b"0123456789", "text/plain")
    assert output.header("Last-Modified") == "Sun, 09 Mar 2025 12:01:00 GMT"
    assert (output.ip, output.protocol) == ("127.0.0.1", "ftp")


def test_a_folder_is_a_page_whose_links_lead_to_its_entries() -> None:
    """A folder becomes HTML; each link, resolved, is fetched, whatever the name holds."""
    server = RawFtpServer(TREE)
    page = fetch_all(server, ["pub/"], settings())[0]
    base = server.url + "pub/"
    hrefs = [
        node.attributes["href"] or ""
        for node in LexborHTMLParser(page.body.decode()).css("a[href]")
    ]
    links = [(resolve(base, href) or "").removeprefix(server.url) for href in hrefs]
    assert links == ["", "pub/b%20c&.html", "pub/deep/"]
    found = fetch_all(RawFtpServer(TREE), links, settings())
    assert [output.status for output in found] == [ProtocolStatus.SUCCESS] * 3
    assert found[1].body == b"<html>"


def test_the_root_has_no_parent() -> None:
    """Nothing above the root is linked."""
    assert b"'../'" not in fetch("").body


def test_a_folder_without_its_slash_is_a_redirect() -> None:
    """Links in a listing are relative, so its URL must end in a slash."""
    server = RawFtpServer(TREE)
    output = fetch_all(server, ["pub"], settings())[0]
    assert (output.status, output.http_status) == (ProtocolStatus.MOVED, 300)
    assert output.location == server.url.encode() + b"pub/"


@pytest.mark.parametrize("url", ["nix", "nix/", "pub/nix"])
def test_what_is_missing(url: str) -> None:
    """550 to a name that is neither file nor folder is a 404."""
    output = fetch(url)
    assert (output.status, output.http_status) == (ProtocolStatus.NOTFOUND, 404)
    assert output.message.startswith("missing: 550")


@pytest.mark.parametrize(
    ("since", "status"),
    [
        (MARCH_2025, ProtocolStatus.NOTMODIFIED),
        (MARCH_2025 + 1_000, ProtocolStatus.NOTMODIFIED),
        (MARCH_2025 - 1_000, ProtocolStatus.SUCCESS),
    ],
)
def test_not_changed_since(since: int, status: ProtocolStatus) -> None:
    """A file no newer than what we have is not retrieved (MDTM, as Nutch does)."""
    server = RawFtpServer(TREE)
    output = fetch_all(server, ["a.txt"], settings(), modified_time=since)[0]
    assert output.status is status
    retrieved = any(command.startswith("RETR") for command in server.commands)
    assert retrieved is (status is ProtocolStatus.SUCCESS)


def test_a_server_without_mdtm_gives_the_file() -> None:
    """Where the date is not known, the file is retrieved."""
    made = settings()
    server = RawFtpServer(TREE, says={"MDTM": b"502 never heard of\r\n"})
    output = fetch_all(server, ["a.txt"], made, modified_time=MARCH_2025)[0]
    assert output.status is ProtocolStatus.SUCCESS


@pytest.mark.parametrize(
    ("says", "status", "reason"),
    [
        ({"PASS": b"530 wrong\r\n"}, ProtocolStatus.ACCESS_DENIED, "login_denied"),
        ({"PASS": b"530 too many users\r\n"}, ProtocolStatus.EXCEPTION, "server_busy"),
        ({"GREETING": b"421 come again\r\n"}, ProtocolStatus.EXCEPTION, "server_busy"),
        ({"RETR": b"550 Permission denied.\r\n"}, ProtocolStatus.ACCESS_DENIED, "unreadable"),
        ({"RETR": b"450 in use\r\n"}, ProtocolStatus.EXCEPTION, "server_busy"),
        ({"GREETING": b"500 no\r\n"}, ProtocolStatus.EXCEPTION, "bad_reply"),
    ],
)
def test_what_a_server_refuses(says: Any, status: ProtocolStatus, reason: str) -> None:
    """A wrong password is final; a server that is full, or a file in use, is tried again."""
    output = fetch(says=says)
    assert (output.status, output.message.partition(":")[0]) == (status, reason)


def test_an_empty_folder() -> None:
    """Some servers answer 550 to the listing of a folder that holds nothing: a page without links.

    It could be entered, so it is there.
    """
    output = fetch("pub/", says={"LIST": b"550 No files found.\r\n"})
    assert (output.status, output.body.count(b"href")) == (ProtocolStatus.SUCCESS, 1)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["GREETING", "USER", "RETR", "EPSV"])
def test_silence_is_bounded(command: str) -> None:
    """A server that says nothing is given up after `ftp.timeout_ms`."""
    made = settings(timeout_ms=1_000)
    output = fetch(says={command: SILENCE}, made=made)
    assert output.status is ProtocolStatus.EXCEPTION
    assert output.message.partition(":")[0] in {"timeout", "connect_timeout"}


@pytest.mark.slow
def test_a_stalled_retrieval_is_no_page() -> None:
    """Half of a file is a failure; with `http.partial_truncated` it is kept, and marked."""
    assert fetch(stalls=True).message.startswith("timeout:")
    made = settings()
    kept = made.model_copy(
        update={"http": made.http.model_copy(update={"partial_truncated": True})}
    )
    output = fetch(stalls=True, made=kept)
    assert (output.status, output.body, output.truncated) == (
        ProtocolStatus.SUCCESS,
        b"01234",
        "time",
    )


def test_endless_talk_is_cut() -> None:
    """What is said on the control connection has a limit of bytes."""
    output = fetch(says={"GREETING": b"220-hello\r\n" * 40_000})
    assert output.message.startswith("headers_too_long:")


def test_a_body_beyond_the_limit_is_cut_and_says_so() -> None:
    """`ftp.content_limit` holds for files and listings."""
    made = settings(content_limit=4)
    assert (fetch(made=made).body, fetch(made=made).truncated) == (b"0123", "length")
    assert (len(fetch("", made=made).body), fetch("", made=made).truncated) == (4, "length")


def test_the_guard_judges_before_the_control_connection() -> None:
    """A private address is refused, and the server hears nothing of us."""
    server = RawFtpServer(TREE)
    output = fetch_all(server, ["a.txt"], settings(allow=False))[0]
    assert output.message.startswith("address_refused: 127.0.0.1")
    assert server.commands == []


def test_the_data_connection_goes_to_the_server_itself() -> None:
    """Whatever address PASV names, nobody else's door is knocked on (the FTP bounce)."""

    async def run() -> tuple[ProtocolOutput, bool]:
        knocked = asyncio.Event()
        victim = await asyncio.start_server(lambda *_: knocked.set(), "127.0.0.2", 0)
        port = victim.sockets[0].getsockname()[1]
        server = RawFtpServer(
            TREE,
            says={"EPSV": b"500 no\r\n"},
            passive=f"127,0,0,2,{port >> 8},{port & 255}",
        )
        made = settings()
        async with victim, raw_ftp_server(server):
            async with FtpProtocol.from_settings(made, Path("nowhere")) as protocol:
                output = await protocol.fetch(FetchRequest(url=server.url + "a.txt"))
            return output, knocked.is_set()

    output, was_knocked = asyncio.run(run())
    assert not was_knocked
    assert output.status is ProtocolStatus.EXCEPTION


def test_login_by_settings_and_by_url() -> None:
    """The settings say who we are, unless the URL has a name and password of its own."""
    server = RawFtpServer(TREE)
    made = settings(username="bob", password="s3cret")
    fetch_all(server, ["a.txt"], made)
    assert {"USER bob", "PASS s3cret"} <= set(server.commands)

    async def run() -> list[str]:
        other = RawFtpServer(TREE)
        async with (
            raw_ftp_server(other),
            FtpProtocol.from_settings(made, Path("nowhere")) as protocol,
        ):
            url = other.url.replace("//", "//ann:p%40ss@") + "a.txt"
            await protocol.fetch(FetchRequest(url=url))
        return other.commands

    assert {"USER ann", "PASS p@ss"} <= set(asyncio.run(run()))


@pytest.mark.parametrize(("keep", "logins"), [(True, 1), (False, 3)])
def test_the_control_connection_is_kept_or_not(keep: bool, logins: int) -> None:
    """One login serves all files of a host, unless the settings say otherwise."""
    server = RawFtpServer(TREE)
    fetch_all(server, ["a.txt", "pub/", "pub/deep/x"], settings(keep_connection=keep))
    assert sum(command.startswith("USER") for command in server.commands) == logins


@pytest.mark.parametrize("path", ["a%0d%0aDELE%20a.txt", "a%00.txt", "a%0aQUIT/"])
def test_no_path_breaks_out_of_its_command(path: str) -> None:
    """An escaped line break never reaches the server."""
    server = RawFtpServer(TREE)
    output = fetch_all(server, [path], settings())[0]
    assert output.message.startswith("malformed_url:")
    assert server.commands == []


@pytest.mark.parametrize(
    ("tree", "meaning"),
    [
        ({"/robots.txt": b"User-agent: *\nDisallow: /"}, RobotsMeaning.PARSE),
        (TREE, RobotsMeaning.ALLOW),
        ({"/robots.txt/odd": b""}, RobotsMeaning.ALLOW),
    ],
)
def test_robots_txt_over_ftp(tree: Any, meaning: RobotsMeaning) -> None:
    """FTP hosts have a robots.txt too (RFC 9309 section 2.3); without one all is allowed."""
    output = fetch_all(RawFtpServer(tree), ["robots.txt"], settings(), robots=True)[0]
    assert robots_meaning(output, Settings().robots) is meaning


def test_a_host_that_is_not_there() -> None:
    """Nobody listens: a failure by name, not an error."""

    async def run() -> ProtocolOutput:
        async with FtpProtocol.from_settings(settings(), Path("nowhere")) as protocol:
            return await protocol.fetch(FetchRequest(url="ftp://127.0.0.1:1/"))

    assert asyncio.run(run()).message.startswith("connect_failed:")
