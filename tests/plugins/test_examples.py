"""The examples work: a stranger's package, and a single file."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from filbert.model.records import Document, Page, Parse
from filbert.plugins.contracts import IndexInput, Scope
from filbert.plugins.registry import PluginRepository
from filbert.settings import Settings, load_settings

if TYPE_CHECKING:
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


@pytest.mark.slow
def test_the_example_package_builds(repository: Path, tmp_path: Path) -> None:
    """The example's pyproject.toml makes a wheel, where the builder is installed."""
    pytest.importorskip("hatchling")
    source = repository / "examples/filbert-example-plugin"
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    assert [path.suffix for path in tmp_path.iterdir()] == [".whl"]
