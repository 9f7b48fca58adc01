"""A Chromium that renders pages, and cannot reach the network by itself.

Guarantees: every request of a page is handed to its caller, who answers or refuses it; what escaped
that would meet a proxy that refuses connections, and names that do not resolve. It is started when
first needed, anew when it has died or hangs, and after some pages. A page that crashes, hangs or
never falls silent ends within its limit.
Source: Playwright's `route`; Chromium's switches `--host-resolver-rules`, `--proxy-server`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from filbert.settings.browser import BrowserSettings

__all__ = ["MOST_OVERHEAD_S", "Answer", "Asked", "BrowserError", "Chromium", "find_browser"]

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_SWITCHES = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# Cut in the browser's own process, so that ours never holds a document without end.
_DOCUMENT = """most => {
  const kind = document.doctype, root = document.documentElement
  return ((kind ? new XMLSerializer().serializeToString(kind) : '') +
    (root ? root.outerHTML : '')).slice(0, most)
}"""
_TRIES = 2
_CLOSED = "has been closed"  # Playwright's words, which may come before it knows why
_START_S = 30.0
_CLOSE_S = 5.0
_LAST_LOOK_S = 2.0
MOST_OVERHEAD_S = 2 * _LAST_LOOK_S + 2 * _CLOSE_S
"""What a page may cost beyond its limit, if it must be ended by force."""


class BrowserError(Exception):
    """A page could not be rendered; the text begins with a name that can be counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that a page makes: what for, in Chromium's words; its method."""

    url: str
    kind: str
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a page is answered."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class _Errand:
    url: str
    answer: Callable[[Asked], Awaitable[Answer | None]]
    most: int


def find_browser(program: str) -> str | None:
    """Return where the browser is; None: it is not installed (scripts/install_chromium.sh)."""
    names = (program,) if program else _PROGRAMS
    return next((found for name in names if (found := shutil.which(name))), None)


class Chromium:
    """The browser of one event loop.

    Args:
        settings: Limits, and where it is.
        agent: The User-Agent that pages see.
    """

    def __init__(self, settings: BrowserSettings, agent: str) -> None:
        self.version = ""
        self._settings = settings
        self._agent = agent
        self._slots = asyncio.Semaphore(settings.pages)
        self._starting = asyncio.Lock()
        self._playwright: Any = None
        self._browser: Any = None
        self._rendered = 0
        self._open = 0
        self._hole: socket.socket | None = None

    async def render(
        self, url: str, answer: Callable[[Asked], Awaitable[Answer | None]], *, most: int
    ) -> tuple[str, bool]:
        """Return a page's document when it has fallen silent, and whether time cut it.

        Args:
            url: The page; `answer` is asked for it as for all that it loads.
            answer: Answers a request; None refuses it.
            most: Characters of the document at most.

        Raises:
            BrowserError: It cannot be had.
        """
        async with self._slots:
            for _ in range(_TRIES):
                browser = await self._running()
                try:
                    return await self._attempt(browser, _Errand(url, answer, most))
                except BrowserError as error:
                    if browser.is_connected() and _CLOSED not in str(error):
                        raise
                    # It died, perhaps by another page: this one is rendered by the next browser.
                    await self._abandon(browser)
        raise BrowserError("browser_died: it ended while the page was rendered, each time")

    async def close(self) -> None:
        """End the browser."""
        await self._stop()
        if self._hole is not None:
            self._hole.close()
            self._hole = None

    # ------------------------------------------------------------------ a page

    async def _attempt(self, browser: Any, errand: _Errand) -> tuple[str, bool]:
        self._open += 1
        self._rendered += 1
        try:
            async with asyncio.timeout(self._settings.page_limit_s + 2 * _LAST_LOOK_S):
                return await self._visit(browser, errand)
        except TimeoutError:
            raise BrowserError("browser_hung: it gave no document in time") from None
        except BrowserError:
            raise
        except Exception as error:  # a driver that dies fails in many ways
            raise BrowserError(f"browser_failed: {_first_line(error)}") from error
        finally:
            self._open -= 1

    async def _visit(self, browser: Any, errand: _Errand) -> tuple[str, bool]:
        context = await browser.new_context(
            service_workers="block", accept_downloads=False, user_agent=self._agent or None
        )
        try:
            await context.route("**/*", _router(errand.answer))
            await context.route_web_socket("**/*", _refuse_socket)
            page = await context.new_page()
            crashed = asyncio.Event()
            page.on("crash", lambda _page: crashed.set())
            page.on("dialog", _dismiss)
            cut = await self._load(page, errand.url)
            if crashed.is_set():
                raise BrowserError("browser_crashed: the page crashed its process")
            async with asyncio.timeout(_LAST_LOOK_S):
                document = await page.evaluate(_DOCUMENT, errand.most)
            if not isinstance(document, str):  # the page has tampered with what it is asked
                raise BrowserError("browser_failed: the page gave no document")
            return document, cut
        finally:
            await self._leave(browser, context)

    async def _leave(self, browser: Any, context: Any) -> None:
        """Close a page; a browser that cannot do that is given up."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                await context.close()
        except Exception:  # noqa: BLE001 - whatever a driver may fail by
            await self._abandon(browser)

    async def _load(self, page: Any, url: str) -> bool:
        """Load a page and let it fall silent; return whether it was cut by its time."""
        from playwright.async_api import TimeoutError as LimitError

        limit_ms = self._settings.page_limit_s * 1000
        started = asyncio.get_running_loop().time()
        try:
            await page.goto(url, wait_until="load", timeout=limit_ms)
        except LimitError:
            return True
        left_ms = limit_ms - (asyncio.get_running_loop().time() - started) * 1000
        settle_ms = min(self._settings.settle_ms, left_ms)
        if settle_ms > 0:
            with contextlib.suppress(LimitError):
                await page.wait_for_load_state("networkidle", timeout=settle_ms)
        return False

    # ------------------------------------------------------------------ the browser

    async def _running(self) -> Any:
        async with self._starting:
            is_old = self._rendered >= self._settings.restart_after and not self._open
            if self._browser is not None and (is_old or not self._browser.is_connected()):
                await self._stop()
            if self._browser is None:
                await self._start()
            return self._browser

    async def _start(self) -> None:
        try:
            from playwright.async_api import async_playwright
        except ImportError as error:
            raise BrowserError("browser_missing: pip install 'filbert[browser]'") from error
        program = find_browser(self._settings.program)
        if program is None:
            raise BrowserError("browser_missing: there is no chromium (browser.program)")
        try:
            async with asyncio.timeout(_START_S):
                self._playwright = await async_playwright().start()
                self._browser = await self._playwright.chromium.launch(
                    executable_path=program,
                    headless=True,
                    args=[*_SWITCHES, *(("--no-sandbox",) if os.geteuid() == 0 else ())],
                    proxy={"server": f"http://127.0.0.1:{self._closed_port()}"},
                )
        except Exception as error:  # whatever a driver may fail by
            await self._stop()
            raise BrowserError(f"browser_not_started: {_first_line(error)}") from error
        self.version = f"Chromium/{self._browser.version}"
        self._rendered = 0

    def _closed_port(self) -> int:
        """Return a port of this machine that refuses connections as long as the browser lives."""
        if self._hole is None:
            self._hole = socket.socket()
            self._hole.bind(("127.0.0.1", 0))  # bound, never listening
        port: int = self._hole.getsockname()[1]
        return port

    async def _abandon(self, browser: Any) -> None:
        """Give up a browser that hangs or is dead, unless that was done already."""
        async with self._starting:
            if self._browser is browser:
                await self._stop()

    async def _stop(self) -> None:
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        for end in (browser and browser.close, playwright and playwright.stop):
            if end is not None:
                with contextlib.suppress(Exception):  # it is gone, or is killed with its driver
                    async with asyncio.timeout(_CLOSE_S):
                        await end()


def _router(answer: Callable[[Asked], Awaitable[Answer | None]]) -> Any:
    """Return what Playwright calls for each request."""
    main: list[str] = []

    async def decide(route: Any) -> None:
        request = route.request
        is_page = request.is_navigation_request() and request.frame.parent_frame is None
        kind = "page" if is_page and not main else request.resource_type
        is_elsewhere = is_page and bool(main)  # the page leads away from itself
        main.append(request.url)
        asked = Asked(url=request.url, kind=kind, method=request.method)
        given = None if is_elsewhere else await answer(asked)
        with contextlib.suppress(Exception):  # the page may be gone by now
            if is_elsewhere:
                await route.abort("aborted")  # and the page stays; any other word leaves an error
            elif given is None:
                await route.abort("blockedbyclient")
            else:
                await route.fulfill(status=given.status, headers=given.headers, body=given.body)

    return decide


async def _refuse_socket(socket_route: Any) -> None:
    with contextlib.suppress(Exception):
        await socket_route.close()


async def _dismiss(dialog: Any) -> None:
    with contextlib.suppress(Exception):
        await dialog.dismiss()


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
