"""The examples work: a stranger's package, and a single file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from filbert.model.records import Document, Page, Parse
from filbert.plugins.contracts import IndexInput, Scope
from filbert.plugins.registry import PluginRepository
from filbert.search.searcher import SearchIndex
from filbert.settings import Settings, load_settings
from filbert.settings.search import SearchSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def package(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example package installed into a folder of its own, as pip leaves it.

    Laid out by hand, so that the test needs neither network nor pip: the modules, and the
    metadata with the entry points of its pyproject.toml.
    """
    source = repository / "examples/filbert-example-plugin"
    target = tmp_path / "site"
    modules = target / "filbert_example"
    modules.mkdir(parents=True)
    for path in (source / "src/filbert_example").glob("*.py"):
        (modules / path.name).write_text(path.read_text())
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    info = target / f"filbert_example_plugin-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines: list[str] = []
    for group, entries in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines.extend(f"{name} = {value}" for name, value in entries.items())
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(target))
    return target


SECTIONS = {
    "parse": {"parsers": ("html", "text", "json-page")},
    "urls": {"filters": ("regex", "calendar")},
    "index": {"filters": ("basic", "anchor", "word-count")},
}


def _page(body: bytes) -> Page:
    url = "http://a.com/doc"
    return Page(url=url, base_url=url, body=body, content_type="application/json")


def test_a_strangers_package_is_found_and_used(package: Path, tmp_path: Path) -> None:
    """A parser, a URL filter and an index filter of a package act once settings name them."""
    plugins = PluginRepository(Settings.model_validate(SECTIONS), tmp_path)
    parser = plugins.parsers()[-1]
    parse = parser.parse(_page(b'{"title": "T", "text": "a b c", "links": ["http://b.org/"]}'))[0]
    assert (parse.title, [link.url for link in parse.links]) == ("T", ["http://b.org/"])
    chain = plugins.url_chain()
    assert chain.apply("http://a.com/2999/12/", Scope.OUTLINK).reason == "calendar"
    assert chain.apply("http://a.com/2026/12/", Scope.OUTLINK).url == "http://a.com/2026/12/"
    counter = plugins.index_filters()[-1]
    document = Document(url="http://a.com/doc", fields={})
    facts = IndexInput(
        url="http://a.com/doc",
        segment="s",
        title="",
        text="a b c",
        content_metadata={},
        parse_metadata={},
        metadata={},
        content_type=None,
        language=None,
        charset=None,
        signature=None,
        noarchive=False,
        repr_url=None,
        fetch_time=0,
        modified_time=None,
        score=1.0,
        host="a.com",
    )
    counted = counter.filter(document, facts)
    assert counted is not None
    assert counted.fields["words"] == (3,)
    origin = plugins.available("parsers")["json-page"]
    assert str(origin).endswith("of package filbert-example-plugin 0.1.0")


@pytest.mark.slow
def test_the_guarded_process_finds_the_package_too(package: Path, tmp_path: Path) -> None:
    """The process that parses sees the packages that its parent sees."""
    from filbert.parser.guard import GuardedParser
    from filbert.parser.jobs import PageRows, ParseJob, ParseOptions

    job = ParseJob(
        url="http://a.com/doc",
        base_url="http://a.com/doc",
        body=b'{"title": "T", "text": "a b c"}',
        declared_type="application/json",
        headers={},
        fetch_time=0,
    )
    options = ParseOptions(settings=Settings.model_validate(SECTIONS), folder=tmp_path)
    with GuardedParser(options) as guarded:
        [(_, rows)] = guarded.parse([job])
    assert isinstance(rows, PageRows)
    assert rows.parse_data[0]["parser"] == "json-page"


def test_a_single_file_is_named_in_filbert_toml(repository: Path, tmp_path: Path) -> None:
    """`plugins = ["./my_site.py"]` brings the file's plugins, found beside filbert.toml."""
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    (crawl / "my_site.py").write_text((repository / "examples/my_site.py").read_text())
    (crawl / "filbert.toml").write_text(
        'plugins = ["./my_site.py"]\n'
        '[urls]\nfilters = ["regex", "my-site"]\n'
        '[parse]\nfilters = ["my-site-breadcrumbs"]\n'
    )
    plugins = PluginRepository(load_settings(crawl).settings, crawl)
    chain = plugins.url_chain()
    assert chain.apply("http://my-site.test/cart/1", Scope.OUTLINK).reason == "cart"
    assert chain.apply("http://other.test/", Scope.OUTLINK).reason == "elsewhere"
    parse = plugins.parse_filters()[0].filter(_page(b""), Parse(title="News | My Site"))
    assert parse.title == "News"


@pytest.fixture
def installed(repository: Path, tmp_path: Path) -> Path:
    """The example package built as a wheel and installed by pip into a folder of its own."""
    pytest.importorskip("hatchling")
    pytest.importorskip("pip")
    source = repository / "examples/filbert-example-plugin"
    _python("hatchling", "build", "-t", "wheel", "-d", tmp_path, folder=source)
    (wheel,) = tmp_path.glob("*.whl")
    offline = ("--no-deps", "--no-build-isolation", "--no-index")
    _python("pip", "install", *offline, "--target", tmp_path / "site", wheel, folder=tmp_path)
    return tmp_path / "site"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of a server of one JSON document, with a link into a calendar."""
    folder = tmp_path / "web"
    folder.mkdir()
    links = ["http://127.0.0.1/2999/12/"]
    document = {"title": "Nuts", "text": "one two three", "links": links}
    (folder / "doc.json").write_text(json.dumps(document))
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/doc.json"
        server.shutdown()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        """Say nothing."""


def _python(*arguments: object, folder: Path, path: str = "") -> str:
    """Run a module in a process; return what it printed."""
    paths = os.pathsep.join(filter(None, (path, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.slow
def test_the_package_installed_by_pip_takes_part_in_a_crawl(
    installed: Path, site: str, tmp_path: Path
) -> None:
    """Its parser, URL filter and index filter act in a process that only finds it installed."""
    settings = {
        "http.agent_name": "tester",
        "http.allow_addresses": "loopback",
        "fetcher.server_delay_s": "0",
        "parse.parsers": "html,text,json-page",
        "urls.filters": "regex,calendar",
        "index.filters": "basic,anchor,word-count",
    }
    options = [part for name, value in settings.items() for part in ("-D", f"{name}={value}")]
    command = ("filbert.cli", "crawl", "crawl", "--seeds", site, "--rounds", "1", *options)
    _python(*command, folder=tmp_path, path=str(installed))

    question = "select parser, title, outlinks_dropped from pages"
    answer = _python("filbert.cli", "sql", "crawl", question, "--format", "jsonl", folder=tmp_path)
    assert json.loads(answer) == {
        "parser": "json-page",
        "title": "Nuts",
        "outlinks_dropped": {"calendar": "1"},
    }
    document = SearchIndex.open(tmp_path / "crawl/index", SearchSettings()).document(site)
    assert document is not None
    assert document["words"] == [3]
