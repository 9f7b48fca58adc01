"""Which plugin fetches a URL: by host, domain, scheme; and what is said of a wrong mapping."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from filbert.cli import run
from filbert.errors import PluginError, UserError
from filbert.plugins.protocol_factory import ProtocolFactory, mapping_from
from filbert.plugins.registry import PluginRepository
from filbert.rules.protocols import ProtocolMapping, mapping_of
from filbert.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path


class _Plugin:
    """A protocol that does nothing but have a name."""

    robots = True

    def __init__(self, name: str, *schemes: str, only_mapped: bool = False) -> None:
        self.name = name
        self.schemes = frozenset(schemes)
        self.only_mapped = only_mapped


PLUGINS = [
    _Plugin("http", "http", "https"),
    _Plugin("browser", "http", "https", only_mapped=True),
    _Plugin("ftp", "ftp"),
]


def _name(url: str, *by_host: str, by_scheme: tuple[str, ...] = ()) -> str:
    found = ProtocolFactory(PLUGINS, mapping_of(by_host, by_scheme)).of(url)
    return found.name if found is not None else ""


def test_the_scheme_decides_where_nothing_is_mapped() -> None:
    """A plugin that asks to be mapped is never chosen by itself; an unknown scheme has none."""
    assert _name("https://a.test/") == "http"
    assert _name("ftp://a.test/") == "ftp"
    assert _name("gopher://a.test/") == ""


def test_a_host_goes_before_its_domain_and_its_scheme() -> None:
    """The exact host, then the registered domain, then the scheme."""
    mapped = ("www.example.co.uk=http", "example.co.uk=browser")
    assert _name("http://www.example.co.uk/", *mapped) == "http"
    assert _name("http://shop.example.co.uk:8080/x", *mapped) == "browser"
    assert _name("http://other.co.uk/", *mapped) == "http"
    assert _name("https://other.co.uk/", by_scheme=("https=browser",)) == "browser"
    assert _name("http://other.co.uk/", by_scheme=("https=browser",)) == "http"


def test_a_plugin_gets_only_what_it_speaks() -> None:
    """A host's files on FTP are not given to a browser; a scheme that it speaks not is refused."""
    assert _name("ftp://a.test/f", "a.test=browser") == "ftp"
    with pytest.raises(UserError, match="ftp does not fetch https: URLs"):
        _name("https://a.test/", by_scheme=("https=ftp",))


def test_the_last_plugin_of_a_scheme_is_taken() -> None:
    """A plugin of one's own takes the place of the one that is built in."""
    plugins = [*PLUGINS, _Plugin("mine", "ftp")]
    found: object = ProtocolFactory(plugins, ProtocolMapping()).of("ftp://a.test/")
    assert found is plugins[-1]


def test_the_file_of_nutch_is_found_in_the_crawl_folder(tmp_path: Path) -> None:
    """Under its own name, unchanged; settings go before it; a line that says nothing refuses."""
    file = tmp_path / "host-protocol-mapping.txt"
    file.write_text("a.test\torg.apache.nutch.protocol.selenium.Http\nb.test\tprotocol-okhttp\n")
    loaded = load_settings(tmp_path, ["protocols.by_host=a.test=http"], {})
    assert mapping_from(loaded.settings).hosts == {"a.test": "http", "b.test": "http"}
    file.write_text("a.test http\n")
    with pytest.raises(UserError, match=r"line 1: a\.test http"):
        mapping_from(load_settings(tmp_path, [], {}).settings)


def test_a_wrong_name_is_refused_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is fetched; a pair that is none is refused as a setting."""
    settings = load_settings(tmp_path, ["protocols.by_host=a.test=htpp"], {}).settings
    with pytest.raises(PluginError, match=r"no plugin 'htpp'[\s\S]*Did you mean 'http'"):
        PluginRepository(settings, tmp_path).check()
    seeds = ["--seeds", "http://a.test/"]
    assert run(["crawl", str(tmp_path / "c"), *seeds, "-D", "protocols.by_host=a.test"]) == 2
    assert "must be pairs such as example.org=browser" in capsys.readouterr().err


def test_a_plugin_that_must_be_mapped_is_opened_only_then(tmp_path: Path) -> None:
    """A browser costs nothing where no host needs one."""
    for override, there in (("browser.when=mapped", False), ("protocols.by_host=a=browser", True)):
        settings = load_settings(tmp_path, [override], {}).settings
        names = [one.name for one in PluginRepository(settings, tmp_path).protocols()]
        assert ("browser" in names, "http" in names) == (there, True)


def test_robots_says_which_plugin_a_url_gets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer for programs names the protocol; empty where there is none."""
    urls = [f"file://{tmp_path}/x.html", "gopher://a.test/"]
    run(["robots", *urls, "--format", "jsonl"])
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    assert [row["protocol"] for row in rows] == ["file", ""]
