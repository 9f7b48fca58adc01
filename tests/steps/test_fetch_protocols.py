"""Hosts that are mapped to a protocol plugin of one's own, in a whole fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filbert.cli import run

if TYPE_CHECKING:
    from pathlib import Path

MINE = """
from filbert.plugins.contracts import ProtocolOutput, ProtocolStatus

class Mine:
    name = "mine"
    schemes = frozenset({"http"})
    robots = False
    only_mapped = True

    @classmethod
    def from_settings(cls, settings, folder):
        return cls()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        pass

    async def fetch(self, request):
        return ProtocolOutput(
            status=ProtocolStatus.SUCCESS, http_status=200, protocol="mine",
            body=b"walnut", raw_body=b"walnut", content_type="text/plain",
        )

PLUGINS = {"protocols": [Mine]}
"""


@pytest.mark.slow
def test_a_host_is_fetched_by_the_plugin_that_it_is_mapped_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nutch's file in the crawl folder maps a domain; no other host gets the plugin."""
    crawl, plugin = tmp_path / "crawl", tmp_path / "mine.py"
    crawl.mkdir()
    plugin.write_text(MINE)
    (crawl / "host-protocol-mapping.txt").write_text("# mine\nexample.org\tmine\n")
    settings = [
        f"plugins.files={plugin}",
        "fetcher.server_delay_s=0",
        "http.agent_name=testbot",
        "http.resolve=other.test:80:192.0.2.1:80",
        "http.deny_addresses=192.0.2.0/24",
        "engine.processes=1",
    ]
    options = [part for one in settings for part in ("-D", one)]
    urls = ["http://www.example.org/a", "http://other.test/"]
    assert run(["inject", str(crawl), *urls, *options]) == 0
    assert run(["generate", str(crawl), *options]) == 0
    assert run(["fetch", str(crawl), *options]) == 0
    capsys.readouterr()
    query = "select host, protocol, status from fetches order by host"
    assert run(["sql", str(crawl), query, "--format", "csv"]) == 0
    assert capsys.readouterr().out.split() == [
        "host,protocol,status",
        "other.test,,fetch_retry",
        "www.example.org,mine,fetch_success",
    ]
