"""Names to addresses: our own bounded cache over aiodns, with the system's resolver behind it.

libcurl walks its whole DNS cache on every request, so names are resolved here and handed over.
Guarantees: an answer is kept for its TTL within bounds; several askers of one name make one query;
`localhost` names (RFC 6761) and the hosts file are honoured; spellings of IPv4 that the system's
resolver takes (`127.1`, `2130706433`) give the address they mean. If aiodns cannot run or no server
answers it, `getaddrinfo` in a thread is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import aiodns

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Resolution", "Resolver"]

# Names of one part; an entry takes about 300 bytes.
_MOST_NAMES = 50_000
# Below: a query per request. Above: a site that moved is asked at its old address for too long.
_LEAST_TTL_S = 30.0
_MOST_TTL_S = 3_600.0
_FAILURE_TTL_S = 60.0
_TRIES = 2
_HOSTS_FILE = "/etc/hosts"
_LOOPBACK = ("127.0.0.1", "::1")
# The name is known not to exist, or to have no address: asking another resolver gives no more.
_FINAL = frozenset({aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_ENODATA})


@dataclass(frozen=True, slots=True)
class Resolution:
    """Addresses of a name, in the order to try them; none, and why."""

    addresses: tuple[str, ...]
    error: str = ""


@dataclass(slots=True)
class _Entry:
    found: Resolution
    expires: float


class Resolver:
    """Resolves names for one event loop. Must be made inside it; an async context manager.

    Args:
        timeout_s: Seconds until a server is given up.
        now: The loop's clock; for tests.
    """

    def __init__(self, timeout_s: float, *, now: Callable[[], float] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._now = now or self._loop.time
        self._timeout_s = timeout_s
        self._cache: OrderedDict[str, _Entry] = OrderedDict()
        self._asked: dict[str, asyncio.Future[Resolution]] = {}
        self._hosts = _read_hosts()
        self._engine: aiodns.DNSResolver | None = None
        # c-ares without a working system set-up (no resolv.conf, no event loop support)
        with contextlib.suppress(Exception):
            self._engine = aiodns.DNSResolver(timeout=timeout_s / _TRIES, tries=_TRIES)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._engine is not None:
            await self._engine.close()

    async def resolve(self, host: str) -> Resolution:
        """Return the addresses of a host name or address (brackets around IPv6 allowed)."""
        name = host.strip("[]").rstrip(".").lower()
        known = _literal(name) or self._local(name)
        if known:
            return Resolution(known)
        entry = self._cache.get(name)
        if entry is not None and entry.expires > self._now():
            self._cache.move_to_end(name)
            return entry.found
        while name in self._asked:
            with contextlib.suppress(asyncio.CancelledError):
                return await asyncio.shield(self._asked[name])
            # The asker was cancelled; or we were.
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError
        return await self._ask(name)

    async def _ask(self, name: str) -> Resolution:
        future: asyncio.Future[Resolution] = self._loop.create_future()
        self._asked[name] = future
        try:
            found, ttl = await self._query(name)
            self._keep(name, _Entry(found, self._now() + ttl))
            future.set_result(found)
            return found
        finally:
            self._asked.pop(name, None)
            if not future.done():
                future.cancel()

    def _keep(self, name: str, entry: _Entry) -> None:
        self._cache[name] = entry
        self._cache.move_to_end(name)
        while len(self._cache) > _MOST_NAMES:
            self._cache.popitem(last=False)

    def _local(self, name: str) -> tuple[str, ...]:
        if name in self._hosts:
            return self._hosts[name]
        is_local = name == "localhost" or name.endswith(".localhost")
        return _LOOPBACK if is_local else ()

    async def _query(self, name: str) -> tuple[Resolution, float]:
        if self._engine is not None:
            try:
                answer = await self._engine.getaddrinfo(name, family=socket.AF_UNSPEC)
            except aiodns.error.DNSError as error:
                if error.args[0] in _FINAL:
                    return Resolution((), str(error.args[-1])), _FAILURE_TTL_S
            except UnicodeError as error:
                return Resolution((), f"no host name: {error}"), _FAILURE_TTL_S
            else:
                return _from_answer(answer)
        return await self._system(name)

    async def _system(self, name: str) -> tuple[Resolution, float]:
        try:
            async with asyncio.timeout(self._timeout_s * _TRIES):
                answer = await self._loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError, TimeoutError) as error:
            text = getattr(error, "strerror", None) or str(error) or "no answer in time"
            return Resolution((), text), _FAILURE_TTL_S
        addresses = dict.fromkeys(str(sockaddr[0]) for _, _, _, _, sockaddr in answer)
        return Resolution(_ordered(addresses)), _LEAST_TTL_S


def _from_answer(answer: object) -> tuple[Resolution, float]:
    nodes = getattr(answer, "nodes", ())
    addresses = dict.fromkeys(_text(node.addr[0]) for node in nodes)
    if not addresses:
        return Resolution((), "the name has no address"), _FAILURE_TTL_S
    ttl = min((float(getattr(node, "ttl", 0)) for node in nodes), default=0.0)
    return Resolution(_ordered(addresses)), min(max(ttl, _LEAST_TTL_S), _MOST_TTL_S)


def _text(address: str | bytes) -> str:
    return address.decode("ascii") if isinstance(address, bytes) else address


def _ordered(addresses: dict[str, None]) -> tuple[str, ...]:
    """Put IPv4 first: one address a try, and more crawlers lack an IPv6 route than an IPv4 one."""
    return tuple(sorted(addresses, key=lambda text: ":" in text))


def _literal(name: str) -> tuple[str, ...]:
    if ":" in name:
        try:
            return (socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, name)),)
        except OSError:
            return ()
    # Only what begins with a digit can be a number: names like "beef" are names.
    if not name[:1].isdigit():
        return ()
    try:
        return (socket.inet_ntoa(socket.inet_aton(name)),)
    except OSError:
        return ()


def _read_hosts() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    try:
        with open(_HOSTS_FILE, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            lines = file.read().splitlines()
    except OSError:
        return {}
    for line in lines:
        address, *names = line.partition("#")[0].split() or [""]
        if _literal(address):
            for name in names:
                found.setdefault(name.lower().rstrip("."), []).append(address)
    return {name: _ordered(dict.fromkeys(addresses)) for name, addresses in found.items()}
