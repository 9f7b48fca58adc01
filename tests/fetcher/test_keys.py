"""Which queue a URL belongs to, and which gate its requests must pass."""

from __future__ import annotations

import asyncio

import pytest

from filbert.fetcher.keys import QueueKeys, QueueMode
from filbert.plugins.protocols.dns import Resolution


class Names:
    """Resolves from a table, and counts."""

    def __init__(self, **addresses: tuple[str, ...]) -> None:
        self.asked: list[str] = []
        self._addresses = addresses

    async def resolve(self, host: str) -> Resolution:
        """Return what the table says."""
        self.asked.append(host)
        return Resolution(self._addresses.get(host, ()))


@pytest.mark.parametrize(
    ("mode", "key", "address"),
    [
        ("host", "www", ""),
        ("domain", "dom", ""),
        ("ip", "10.0.0.1", ""),
        ("host+ip", "www", "10.0.0.1"),
    ],
)
def test_each_mode(mode: QueueMode, key: str, address: str) -> None:
    """A host, its domain, its least address; or a host, with its address for the gate."""
    names = Names(www=("10.0.0.2", "10.0.0.1"))
    keys = QueueKeys(mode, names)
    assert asyncio.run(keys.key("www", "dom")) == key
    assert keys.address("www") == address
    assert names.asked == (["www"] if "ip" in mode else [])


def test_a_host_without_an_address_is_a_queue_of_its_own() -> None:
    """Its pages fail by the protocol's words, and pass no gate."""
    by_ip, both = QueueKeys("ip", Names()), QueueKeys("host+ip", Names())
    assert asyncio.run(by_ip.key("www", "dom")) == "www"
    assert (asyncio.run(both.key("www", "dom")), both.address("www")) == ("www", "")


def test_a_name_is_asked_for_once() -> None:
    """A host keeps its address for the whole part."""
    names = Names(www=("10.0.0.1",))
    keys = QueueKeys("ip", names)
    assert [asyncio.run(keys.key_of("http://www/a")) for _ in "12"] == ["10.0.0.1"] * 2
    assert names.asked == ["www"]
