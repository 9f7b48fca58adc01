"""Logins, cookies and agent names: to whom they go, and where they never stand."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest

from filbert.errors import UserError
from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.plugins.protocols.credentials import read_agents, read_cookies, read_logins
from filbert.plugins.protocols.http import HttpProtocol
from filbert.plugins.protocols.request import Target
from filbert.settings import Settings
from filbert.settings.fetcher import FetcherSettings
from filbert.settings.http import HttpSettings
from filbert.testing.raw_server import raw_server

if TYPE_CHECKING:
    from pathlib import Path

    from filbert.testing.raw_server import Reply

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
LOGINS = """
[[login]]
host = "a.test"
scheme = "basic"
user = "me"
password = "s3cret"
[[login]]
host = "*.b.test:8080"
scheme = "digest"
user = "you"
password_env = "B_PASSWORD"
"""


def fetch(
    reply: Reply, urls: list[str], folder: Path, *, keep_alive: bool = False, **http: Any
) -> tuple[list[ProtocolOutput], list[str]]:
    """Fetch URLs whose hosts all lead to one server; return outputs and the requests' heads."""

    async def run() -> tuple[list[ProtocolOutput], list[str]]:
        async with raw_server(reply, keep_alive=keep_alive) as server:
            chosen = {
                "allow_addresses": ("loopback",),
                "resolve": (f"*.test::127.0.0.1:{server.port}",),
                "agent_name": "bot",
                "timeout_ms": 2_000,
                **http,
            }
            settings = Settings(
                http=HttpSettings(**chosen), fetcher=FetcherSettings(server_delay_s=0.0)
            )
            async with HttpProtocol.from_settings(settings, folder) as protocol:
                outputs = [await protocol.fetch(FetchRequest(url=url)) for url in urls]
            return outputs, [request.decode() for request in server.requests]

    return asyncio.run(run())


def test_a_login_goes_to_its_host_alone(tmp_path: Path) -> None:
    """And stands in no head that is kept."""
    path = tmp_path / "logins.toml"
    path.write_text(LOGINS.replace('password_env = "B_PASSWORD"', 'password = "x"'))
    urls = ["http://a.test/", "http://www.a.test/", "http://a.test/2"]
    outputs, requests = fetch(OK, urls, tmp_path, auth_file=str(path))
    sent = [re.findall(r"Authorization: .*", request) for request in requests]
    assert [len(one) for one in sent] == [1, 0, 1]
    assert sent[0][0].strip() == "Authorization: Basic bWU6czNjcmV0"
    assert not any(b"Authorization" in output.request_head for output in outputs)


def test_digest_answers_the_challenge(tmp_path: Path) -> None:
    """Two requests a page, and no more; the password itself is never sent."""
    path = tmp_path / "logins.toml"
    path.write_text(
        '[[login]]\nhost = "a.test"\nscheme = "digest"\nuser = "me"\npassword = "s3cret"\n'
    )
    wants = (
        b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n"
        b'WWW-Authenticate: Digest realm="r", nonce="abc", qop="auth"\r\n\r\nno'
    )
    answers = iter([wants, OK, wants, wants])

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(next(answers))
        await writer.drain()

    urls = ["http://a.test/x"]
    outputs, requests = fetch(reply, urls, tmp_path, keep_alive=True, auth_file=str(path))
    assert (outputs[0].http_status, outputs[0].body) == (200, b"hello")
    assert outputs[0].response_head.startswith(b"HTTP/1.1 200 OK")
    assert len(requests) == 2
    assert 'username="me"' in requests[1]
    assert "s3cret" not in requests[1]


@pytest.mark.parametrize(
    ("host", "port", "user"),
    [
        ("a.test", 80, "me"),
        ("a.test", 8080, "me"),
        ("www.a.test", 80, None),
        ("b.test", 8080, "you"),
        ("x.y.b.test", 8080, "you"),
        ("b.test", 80, None),
        ("notb.test", 8080, None),
    ],
)
def test_whom_a_login_fits(
    host: str, port: int, user: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly its host, or a domain and all below; a port where one is named."""
    monkeypatch.setenv("B_PASSWORD", "x")
    path = tmp_path / "logins.toml"
    path.write_text(LOGINS)
    login = read_logins(str(path)).of(Target("http", host, port, b"/"))
    assert (login.user if login else None) == user
    assert "s3cret" not in repr(login)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("nonsense", "cannot be read"),
        ("x = 1", r"has no \[\[login\]\]"),
        ('[[login]]\nhost = "a"\nscheme = "ntlm"\nuser = "u"\npassword = "p"', "none of basic"),
        ('[[login]]\nhost = "a"\nscheme = "basic"\nuser = "u"', "has no password"),
        ('[[login]]\nscheme = "basic"\nuser = "u"\npassword = "p"', "has no host"),
        ('[[login]]\nhost = "a"\nscheme = "basic"\nuser = "u"\nrealm = "r"', "realm"),
        ("[[login]]\nhost = 1", "no table of texts"),
    ],
)
def test_a_wrong_file_of_logins(text: str, what: str, tmp_path: Path) -> None:
    """Refused before anything is asked, with what would be right."""
    path = tmp_path / "logins.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=what):
        read_logins(str(path))


def test_cookies_of_a_file(tmp_path: Path) -> None:
    """Each host its own; one that a page brings along goes first."""
    path = tmp_path / "cookies.txt"
    path.write_text("# of a browser\na.test\tsession=1; lang=en\n")
    _, requests = fetch(OK, ["http://a.test/", "http://b.test/"], tmp_path, cookie_file=str(path))
    assert [re.findall("Cookie: (.*)\r", one) for one in requests] == [["session=1; lang=en"], []]
    path.write_text("a.test session=1\n")
    with pytest.raises(UserError, match=r"cookies\.txt:1"):
        read_cookies(str(path))


def test_a_jar_keeps_what_hosts_set(tmp_path: Path) -> None:
    """For each host its own, only if asked; a domain that all share is no host's to set."""
    sets = OK.replace(
        b"Connection", b"Set-Cookie: id=7; Path=/\r\nSet-Cookie: all=1; Domain=test\r\nConnection"
    )
    urls = ["http://a.test/", "http://a.test/2", "http://b.test/"]
    for asked, wanted in ((True, [[], ["id=7"], []]), (False, [[], [], []])):
        _, requests = fetch(sets, urls, tmp_path, cookie_jar=asked)
        assert [re.findall("Cookie: (.*)\r", one) for one in requests] == wanted


def test_agents_in_turn(tmp_path: Path) -> None:
    """By the URL: the same page is always asked for under the same name."""
    path = tmp_path / "agents.txt"
    path.write_text("One/1.0\n# comment\nTwo/2.0 (https://two.example)\n")
    urls = [f"http://a.test/{number}" for number in range(8)]
    given: dict[str, Any] = {"agent_rotate": True, "agent_rotate_file": str(path)}
    first, again = (fetch(OK, urls, tmp_path, **given)[1] for _ in "12")
    names = [re.findall("User-Agent: (.*)\r", one)[0] for one in first]
    assert set(names) == {"One/1.0", "Two/2.0 (https://two.example)"}
    assert names == [re.findall("User-Agent: (.*)\r", one)[0] for one in again]
    with pytest.raises(UserError, match="names no agent"):
        read_agents("")
