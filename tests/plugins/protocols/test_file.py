"""The file plugin: documents and folders in the words of HTTP."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from selectolax.lexbor import LexborHTMLParser

from filbert.model.records import FetchRequest, ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.plugins.protocols import file
from filbert.plugins.protocols.file import FileProtocol
from filbert.plugins.protocols.listing_page import ListedEntry
from filbert.settings import Settings
from filbert.settings.file import FileSettings

if TYPE_CHECKING:
    from pathlib import Path


def fetch(url: str, modified_time: int | None = None, **settings: Any) -> ProtocolOutput:
    """Fetch one file URL."""

    async def run() -> ProtocolOutput:
        made = Settings(file=FileSettings(**settings))
        async with FileProtocol.from_settings(made, None) as protocol:  # type: ignore[arg-type]
            return await protocol.fetch(FetchRequest(url=url, modified_time=modified_time))

    return asyncio.run(run())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with odd names in it."""
    root = tmp_path.resolve()
    (root / "sub").mkdir()
    (root / "a&b <c>.html").write_bytes(b"<html>")
    (root / "100% ä'.txt").write_bytes(b"text")
    (root / "z.txt").write_bytes(b"0123456789")
    return root


def test_a_document(folder: Path) -> None:
    """A file comes with its type by name and its date."""
    output = fetch((folder / "z.txt").as_uri())
    assert (output.status, output.http_status) == (ProtocolStatus.SUCCESS, 200)
    assert (output.body, output.content_type) == (b"0123456789", "text/plain")
    assert output.header("Last-Modified") is not None


def test_a_folder_is_a_page_whose_links_can_be_fetched(folder: Path) -> None:
    """Each entry of a listing is a link that leads to it, whatever its name holds."""
    base = folder.as_uri() + "/"
    output = fetch(base)
    links = [
        node.attributes["href"] or ""
        for node in LexborHTMLParser(output.body.decode()).css("a[href]")
    ]
    assert links[0] == "../"
    assert len(links) == 5
    for link in links[1:]:
        assert fetch(base + link.removeprefix("./")).status is ProtocolStatus.SUCCESS


def test_the_parent_can_be_left_out(folder: Path) -> None:
    """`crawl_parent` off keeps a crawl below its seed."""
    assert b"'../'" not in fetch(folder.as_uri() + "/", crawl_parent=False).body


def test_listings_are_the_same_each_time(folder: Path) -> None:
    """Entries stand in the order of their names."""
    assert fetch(folder.as_uri() + "/").body == fetch(folder.as_uri() + "/").body


def test_not_modified(folder: Path) -> None:
    """A file, or folder, no younger than the last change known is 304; a younger one is read."""
    path = folder / "z.txt"
    os.utime(path, (1_000, 1_000))
    assert fetch(path.as_uri(), modified_time=1_000_000).status is ProtocolStatus.NOTMODIFIED
    assert fetch(path.as_uri(), modified_time=999_999).status is ProtocolStatus.SUCCESS


def test_missing(folder: Path) -> None:
    """What is not there is 404, a path through a file and a foreign host too."""
    for url in (f"{folder.as_uri()}/none", f"{folder.as_uri()}/z.txt/x", "file://elsewhere/x"):
        assert fetch(url).status is ProtocolStatus.NOTFOUND


def test_special_files_are_no_documents(folder: Path) -> None:
    """A pipe would never end: it is 404 at once."""
    os.mkfifo(folder / "pipe")
    assert fetch((folder / "pipe").as_uri()).message.startswith("no_document:")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(folder: Path) -> None:
    """What may not be read is 401."""
    (folder / "z.txt").chmod(0)
    assert fetch((folder / "z.txt").as_uri()).status is ProtocolStatus.ACCESS_DENIED


def test_unreadable_by_any_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal of the system is 401, any other error a failure with its words."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("filbert.plugins.protocols.file._canonical", refuse)
    assert fetch((folder / "z.txt").as_uri()).status is ProtocolStatus.ACCESS_DENIED
    monkeypatch.setattr("filbert.plugins.protocols.file._canonical", fail)
    output = fetch((folder / "z.txt").as_uri())
    assert (output.status, output.message) == (
        ProtocolStatus.EXCEPTION,
        "read_failed: Input/output error",
    )


@pytest.mark.parametrize("name", ["sub", "link", "sub/../z.txt", "./z.txt"])
def test_a_path_that_is_not_canonical_is_a_redirect(folder: Path, name: str) -> None:
    """A symlink, dots, a folder without its slash: MOVED to the canonical path."""
    (folder / "link").symlink_to(folder / "z.txt")
    output = fetch(f"{folder.as_uri()}/{name}")
    wanted = "sub/" if name == "sub" else "z.txt"
    assert output.status is ProtocolStatus.MOVED
    assert output.location == f"{folder.as_uri()}/{wanted}".encode()
    assert fetch(output.location.decode()).status is ProtocolStatus.SUCCESS


def test_redirects_can_be_resolved_inside(folder: Path) -> None:
    """With `redirect_noncanonical` off the target is read at once."""
    (folder / "link").symlink_to(folder / "z.txt")
    output = fetch(f"{folder.as_uri()}/link", redirect_noncanonical=False)
    assert output.body == b"0123456789"


def test_a_symlink_loop_is_a_failure(folder: Path) -> None:
    """A loop ends."""
    (folder / "loop").symlink_to(folder / "loop")
    assert fetch(f"{folder.as_uri()}/loop").status is ProtocolStatus.EXCEPTION


def test_the_content_limit(folder: Path) -> None:
    """A long file is cut, marked `length`; one as long as the limit is whole; -1 is no limit."""
    url = (folder / "z.txt").as_uri()
    got = [fetch(url, content_limit=limit) for limit in (4, 10, -1)]
    assert [(output.body, output.truncated) for output in got] == [
        (b"0123", "length"),
        (b"0123456789", None),
        (b"0123456789", None),
    ]


def test_one_bad_entry_hides_no_other(folder: Path) -> None:
    """A link to itself, a broken one and a name of any bytes are listed, and fail alone."""
    (folder / "loop").symlink_to("loop")
    (folder / "broken").symlink_to("nowhere")
    odd = os.fsencode(folder) + b"/\xff.txt"
    with open(odd, "wb") as out:  # noqa: PTH123 (a name that is no text)
        out.write(b"odd")
    base = folder.as_uri() + "/"
    body = fetch(base).body.decode("utf-8", "replace")
    links = [node.attributes["href"] or "" for node in LexborHTMLParser(body).css("a[href]")]
    got = {link: fetch(base + link.removeprefix("./")).status for link in links[1:]}
    bad = {link: status for link, status in got.items() if status is not ProtocolStatus.SUCCESS}
    assert bad == {"./loop": ProtocolStatus.EXCEPTION, "./broken": ProtocolStatus.NOTFOUND}
    assert got["./%FF.txt"] is ProtocolStatus.SUCCESS


@pytest.mark.parametrize("error", [PermissionError(13, "no"), FileNotFoundError(2, "gone")])
def test_an_entry_that_cannot_be_looked_at_is_listed(error: OSError) -> None:
    """Without permission for it, or when it has gone since: its facts are blank."""
    entry = Mock(spec=os.DirEntry)
    entry.name = b"x"
    entry.is_dir.side_effect = entry.stat.side_effect = error
    assert file._listed(entry) == ListedEntry(name=b"x", is_folder=False)


def test_a_year_beyond_the_calendar_costs_only_the_date() -> None:
    """Some disks keep times that no date can say."""
    status = os.stat_result((0o100644, 0, 0, 1, 0, 0, 1, 0, 10**15, 0))
    assert file._headers(status, "text/plain") == (("Content-Type", "text/plain"),)
