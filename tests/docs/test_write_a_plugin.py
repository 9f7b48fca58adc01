"""What the page on plugins shows is what works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from filbert.model import records
from filbert.plugins import contracts
from filbert.plugins.contracts import Page, Scope
from filbert.plugins.registry import PluginRepository
from filbert.settings import load_settings

PAGE = Path(__file__).parents[2] / "docs/how-to/write-a-plugin.md"


def _example(name: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(next(block for block in blocks if f"class {name}" in block))


def test_the_contracts_hand_out_all_that_plugins_pass() -> None:
    """Whatever a method of a contract names is imported from the one page."""
    named = set(re.findall(r"\b[A-Z]\w+", Path(contracts.__file__).read_text(encoding="utf-8")))
    passed = named & set(records.__all__)
    assert passed <= set(contracts.__all__)
    assert {"Verdict", "Page", "Parse", "Document", "ProtocolOutput"} <= passed


def test_the_url_filter_works_as_it_stands(tmp_path: Path) -> None:
    """Copied into a file and named in the settings, it judges."""
    (tmp_path / "mine.py").write_text(_example("NoCarts"), encoding="utf-8")
    said = [f"plugins={tmp_path}/mine.py", "urls.filters=no-carts"]
    chain = PluginRepository(load_settings(None, said).settings, tmp_path).url_chain()
    verdict = chain.apply("http://a.test/cart/1", Scope.DEFAULT)
    assert (verdict.url, verdict.rule) == (None, "/cart/")
    assert chain.apply("http://a.test/x", Scope.DEFAULT).url == "http://a.test/x"


@pytest.mark.filterwarnings("error")
def test_the_parser_works_as_it_stands(tmp_path: Path) -> None:
    """With a line that says what the file brings, it parses."""
    text = _example("JsonPage") + "\nPLUGINS = {'parsers': [JsonPage]}\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    said = [f"plugins={tmp_path}/mine.py", "parse.parsers=json-page"]
    (parser,) = PluginRepository(load_settings(None, said).settings, tmp_path).parsers()
    url, kind = "http://a.test/", "application/json"
    body = b'{"title": "T", "text": "x", "links": ["http://a.test/b"]}'
    (parse,) = parser.parse(Page(url=url, base_url=url, body=body, content_type=kind))
    assert (parse.title, [link.url for link in parse.links]) == ("T", ["http://a.test/b"])
