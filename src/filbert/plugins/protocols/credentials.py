"""What hosts want to know of us before they answer: logins, cookies, other names of the agent.

Guarantee: a login or cookie goes to the host that it is for and to no other, whatever redirects
say, since each hop is a request of its own. A password is in no log, setting shown or capture: the
Authorization header is sent, and never recorded.
Source: Nutch's `httpclient-auth.xml`, `cookies.txt`, `agents.txt`; RFC 7617 (Basic), RFC 7616
(Digest).
"""

from __future__ import annotations

import os
import tomllib
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from filbert.errors import UserError

if TYPE_CHECKING:
    from filbert.plugins.protocols.request import Target

__all__ = ["Login", "Logins", "read_agents", "read_cookies", "read_logins"]

_KEYS = frozenset({"host", "scheme", "user", "password", "password_env"})
_SCHEMES = ("basic", "digest")
_HINT = """Write for each host:
  [[login]]
  host = "intra.example.org"        # or *.example.org, or with :port
  scheme = "basic"                  # or digest
  user = "me"
  password_env = "INTRA_PASSWORD"   # or password = "..."
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login, and for whom.

    Attributes:
        host: Exact, or `*.` and a domain for it and all below.
        port: None: any.
        scheme: basic or digest.
        user: Name.
        password: Never shown.
    """

    host: str
    port: int | None
    scheme: str
    user: str
    password: str = field(repr=False)

    def fits(self, target: Target) -> bool:
        """Say whether it is for a host and port."""
        if self.port is not None and self.port != target.port:
            return False
        if self.host.startswith("*."):
            return target.host == self.host[2:] or target.host.endswith(self.host[1:])
        return target.host == self.host

    def basic_line(self) -> bytes:
        """Return the header of Basic authentication."""
        pair = f"{self.user}:{self.password}".encode()
        return b"Authorization: Basic " + b64encode(pair)


class Logins:
    """The logins of a crawl; the first that fits is used.

    Args:
        logins: In order.
    """

    def __init__(self, logins: tuple[Login, ...] = ()) -> None:
        self._logins = logins

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._logins)

    def of(self, target: Target) -> Login | None:
        """Return the login for a target; None: none."""
        return next((login for login in self._logins if login.fits(target)), None)


def read_logins(path: str) -> Logins:
    """Read `http.auth_file`; an empty path is no login.

    Raises:
        UserError: The file cannot be read, or an entry is wrong.
    """
    if not path:
        return Logins()
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"http.auth_file: {path} cannot be read: {error}", hint=_HINT) from error
    entries = content.get("login")
    if not isinstance(entries, list) or len(content) != 1:
        raise UserError(f"http.auth_file: {path} has no [[login]] alone", hint=_HINT)
    return Logins(tuple(_login(entry, path) for entry in entries))


def _login(entry: object, path: str) -> Login:
    if not isinstance(entry, dict) or not all(isinstance(v, str) for v in entry.values()):
        raise UserError(f"http.auth_file: {path}: an entry is no table of texts", hint=_HINT)
    where = f"http.auth_file: {path}: the login for {entry.get('host') or 'no host'}"
    if unknown := sorted(entry.keys() - _KEYS):
        raise UserError(f"{where} has {unknown[0]}, which is no name here", hint=_HINT)
    missing = [name for name in ("host", "scheme", "user") if not entry.get(name)]
    if missing:
        raise UserError(f"{where} has no {missing[0]}", hint=_HINT)
    if entry["scheme"] not in _SCHEMES:
        words = f"{entry['scheme']!r} is none of {', '.join(_SCHEMES)}"
        raise UserError(f"{where}: {words}", hint=_HINT)
    password = entry.get("password", os.environ.get(entry.get("password_env", ""), ""))
    if not password:
        raise UserError(f"{where} has no password", hint=_HINT)
    host, _, port = entry["host"].lower().rpartition(":")
    if not host or not port.isdigit():
        host, port = entry["host"].lower(), ""
    return Login(
        host=host,
        port=int(port) if port else None,
        scheme=entry["scheme"],
        user=entry["user"],
        password=password,
    )


def read_cookies(path: str) -> dict[str, str]:
    """Read `http.cookie_file`: lines `host TAB cookie`; `#` begins a comment.

    Raises:
        UserError: The file cannot be read, or a line has another form.
    """
    cookies: dict[str, str] = {}
    for number, line in _lines("http.cookie_file", path):
        host, tab, cookie = line.partition("\t")
        if not tab or not host.strip() or not cookie.strip():
            raise UserError(
                f"http.cookie_file: {path}:{number}: no host, TAB and cookie",
                hint="write such as: www.example.org<TAB>session=abc; lang=en",
            )
        cookies[host.strip().lower()] = cookie.strip()
    return cookies


def read_agents(path: str) -> tuple[str, ...]:
    """Read `http.agent_rotate_file`: a whole User-Agent a line.

    Raises:
        UserError: The file cannot be read, or has no line.
    """
    agents = tuple(line for _, line in _lines("http.agent_rotate_file", path))
    if not agents:
        raise UserError(
            f"http.agent_rotate_file: {path or 'no file'} names no agent",
            hint="write a whole User-Agent a line, or set http.agent_rotate = false",
        )
    return agents


def _lines(setting: str, path: str) -> list[tuple[int, str]]:
    if not path:
        return []
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{setting}: {path} cannot be read: {error}") from error
    lines = enumerate((line.strip() for line in text.splitlines()), start=1)
    return [(number, line) for number, line in lines if line and not line.startswith("#")]
