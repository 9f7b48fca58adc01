"""The resolver: one query for many askers, answers kept for their time, odd spellings read."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import aiodns
import pytest

from filbert.plugins.protocols.dns import Resolution, Resolver

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class FakeServer:
    """Stands in for aiodns: answers from a table and counts."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def getaddrinfo(self, name: str, **_: object) -> SimpleNamespace:
        """Answer, or raise as aiodns does."""
        self.asked.append(name)
        await asyncio.sleep(0)
        answer = self.answers[name]
        if isinstance(answer, Exception):
            raise answer
        nodes = [SimpleNamespace(addr=(a.encode(), 0), ttl=ttl) for a, ttl in answer]
        return SimpleNamespace(nodes=nodes)

    async def close(self) -> None:
        """Close nothing."""


def resolve(
    job: Callable[[Resolver, FakeServer], Awaitable[Any]],
    answers: dict[str, Any],
    now: Callable[[], float] | None = None,
) -> Any:
    """Run a job with a resolver over a fake server."""

    async def run() -> Any:
        async with Resolver(1.0, now=now) as resolver:
            if resolver._engine is not None:
                await resolver._engine.close()
            server = FakeServer(answers)
            resolver._engine = server  # type: ignore[assignment]
            return await job(resolver, server)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("127.0.0.1", ("127.0.0.1",)),
        ("2130706433", ("127.0.0.1",)),
        ("127.1", ("127.0.0.1",)),
        ("0x7f.1", ("127.0.0.1",)),
        ("[::1]", ("::1",)),
        ("[::ffff:7f00:1]", ("::ffff:127.0.0.1",)),
        ("any.localhost", ("127.0.0.1", "::1")),
    ],
)
def test_addresses_and_localhost_need_no_server(host: str, addresses: tuple[str, ...]) -> None:
    """Addresses in any spelling, and localhost names, are never asked for."""

    async def job(resolver: Resolver, server: FakeServer) -> object:
        return (await resolver.resolve(host)).addresses, server.asked

    assert resolve(job, {}) == (addresses, [])


def test_many_askers_make_one_query() -> None:
    """A name is asked once while an answer is under way, and once in its time."""

    async def job(resolver: Resolver, server: FakeServer) -> object:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(resolver.resolve("A.test.")) for _ in range(9)]
        return {task.result().addresses for task in tasks}, server.asked

    answers = {"a.test": [("::2", 300), ("1.2.3.4", 300)]}
    assert resolve(job, answers) == ({("1.2.3.4", "::2")}, ["a.test"])


def test_answers_are_kept_for_their_time_within_bounds() -> None:
    """A time to live of 0 is 30 s, of a year an hour; a failure is kept for a minute."""
    now = [0.0]

    async def job(resolver: Resolver, server: FakeServer) -> object:
        for moment in (0, 29, 31, 59, 61, 3_599, 3_601):
            now[0] = float(moment)
            for name in ("short.test", "long.test", "none.test"):
                await resolver.resolve(name)
        return [server.asked.count(n) for n in ("short.test", "long.test", "none.test")]

    answers = {
        "short.test": [("1.1.1.1", 0)],
        "long.test": [("1.1.1.1", 31_536_000)],
        "none.test": aiodns.error.DNSError(aiodns.error.ARES_ENOTFOUND, "not found"),
    }
    assert resolve(job, answers, lambda: now[0]) == [4, 2, 3]


def test_a_name_that_is_not_there() -> None:
    """A failure says why."""

    async def job(resolver: Resolver, _: FakeServer) -> object:
        return await resolver.resolve("none.test")

    answers = {"none.test": aiodns.error.DNSError(aiodns.error.ARES_ENOTFOUND, "not found")}
    assert resolve(job, answers) == Resolution((), "not found")


def test_without_a_server_the_system_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """When no DNS server answers, or aiodns cannot run, getaddrinfo decides."""

    async def system(self: object, name: str, *_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, 1, 6, "", ("9.9.9.9", 0))]

    async def job(resolver: Resolver, _: FakeServer) -> object:
        monkeypatch.setattr(type(asyncio.get_running_loop()), "getaddrinfo", system)
        first = await resolver.resolve("a.test")
        resolver._engine = None
        second = await resolver.resolve("b.test")
        return first.addresses, second.addresses

    answers = {"a.test": aiodns.error.DNSError(aiodns.error.ARES_ECONNREFUSED, "refused")}
    assert resolve(job, answers) == (("9.9.9.9",), ("9.9.9.9",))


def test_a_cancelled_asker_does_not_take_the_others_with_it() -> None:
    """If the one whose query it was is cancelled, the next asker asks again."""

    async def job(resolver: Resolver, server: FakeServer) -> object:
        async with asyncio.TaskGroup() as group:
            first = group.create_task(resolver.resolve("a.test"))
            second = group.create_task(resolver.resolve("a.test"))
            await asyncio.sleep(0)
            first.cancel()
        return second.result().addresses, server.asked

    assert resolve(job, {"a.test": [("1.2.3.4", 60)]}) == (("1.2.3.4",), ["a.test", "a.test"])


def test_what_is_no_name_is_a_failure() -> None:
    """Labels that are too long, or empty, do not raise."""

    async def run() -> list[tuple[str, ...]]:
        async with Resolver(0.2) as resolver:
            return [(await resolver.resolve(name)).addresses for name in ("a" * 70 + ".b", "[::g]")]

    assert asyncio.run(run()) == [(), ()]
