"""A real FTP server is crawled: Debian's vsftpd, folders and files, from a seed to a search."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.testing.daemons import find_program
from filbert.testing.vsftpd import vsftpd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.testing.vsftpd import Vsftpd


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Vsftpd]:
    """A vsftpd with two levels of folders, and a robots.txt that forbids one."""
    if find_program("vsftpd") is None:
        pytest.skip("vsftpd is not installed: scripts/install_test_servers.sh")
    root, work = tmp_path / "root", tmp_path / "work"
    (root / "pub" / "deep er").mkdir(parents=True)
    (root / "private").mkdir()
    (root / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    (root / "hello.html").write_text("<title>Welcome</title><p>walnut <a href='pub'>more</a>")
    (root / "pub" / "deep er" / "ende ä.txt").write_text("hazelnut")
    (root / "private" / "secret.html").write_text("<p>acorn")
    work.mkdir()
    with vsftpd(root, work) as running:
        yield running


@pytest.mark.journey
def test_an_ftp_server_is_crawled(
    server: Vsftpd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Listings are pages with links; robots.txt is obeyed; a folder's name without slash moves."""
    crawl = str(tmp_path / "crawl")
    settings = ["fetcher.server_delay_s=0.01", "http.agent_name=testbot", "urls.filters=validator"]
    options = [part for one in settings for part in ("-D", one)]
    assert run(["crawl", crawl, "--seeds", server.url, "--rounds", "all", *options]) == 0
    assert _pages(crawl, server.url, capsys) == {
        "": "db_fetched",
        "hello.html": "db_fetched",
        "private/": "db_gone",
        "pub": "db_redir_perm",
        "pub/": "db_fetched",
        "pub/deep%20er/": "db_fetched",
        "pub/deep%20er/ende%20%C3%A4.txt": "db_fetched",
        "robots.txt": "db_fetched",
    }
    assert run(["search", crawl, "hazelnut"]) == 0
    assert "ende%20%C3%A4.txt" in capsys.readouterr().out
    assert '"CWD private' not in server.log.read_text(errors="replace")


def _pages(crawl: str, root: str, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    assert run(["sql", crawl, "select url, status from crawldb", "--format", "jsonl"]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return {row["url"].removeprefix(root): row["status"] for row in rows}
