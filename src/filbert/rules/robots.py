"""Reading robots.txt, and judging URLs by it: the Robots Exclusion Protocol.

Guarantee: pure and total: any bytes are a robots.txt, any text a URL, and neither raises. The
most specific rule decides, by the octets of its pattern; of equal ones Allow (RFC 9309 section
2.2.2). Groups of the same agent are merged; an agent is matched by its whole product token, never
by a part of it. Time is linear in file and path: literal patterns are bisected, wildcards matched
without backtracking. A verdict carries the line that decided.
Source: RFC 9309; the extensions Crawl-delay and Sitemap as crawler-commons (Nutch) reads them.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.rules.robots_lines import agent_token, path_of, pattern_of, read_lines
from filbert.rules.urls import host_of, resolve, scheme_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from filbert.rules.robots_lines import Line

__all__ = ["RobotsRules", "RobotsVerdict", "parse_robots"]

_ALLOW_ALL = "no rule forbids it"
_USE_FIELDS = {"content-usage": "Content-Usage", "content-signal": "Content-Signal"}
_LONGEST_DELAY_S = 1e9  # thirty years; nobody means more


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether a URL may be fetched, and by which line: its text, its number (from 1; 0: none)."""

    allowed: bool
    rule: str = ""
    line: int = 0

    def __str__(self) -> str:
        """Return the rule with its number, as `explain` shows it."""
        return f"{self.rule} (line {self.line})" if self.line else self.rule


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: str
    allow: bool
    line: int

    @property
    def rank(self) -> tuple[int, bool]:
        """What decides between rules that match: octets, then Allow."""
        return len(self.pattern), self.allow

    def verdict(self) -> RobotsVerdict:
        name = "Allow" if self.allow else "Disallow"
        return RobotsVerdict(self.allow, f"{name}: {self.pattern}", self.line)


@dataclass(frozen=True, slots=True)
class _Use:
    """A line about the use of pages below a path: Content-Usage or Content-Signal."""

    field: str
    pattern: str
    said: str
    line: int

    def __str__(self) -> str:
        return f"{self.field}: {self.said} (line {self.line})"


class RobotsRules:
    """What one robots.txt says to one robot.

    Args:
        rules: The rules of the groups that are for it.
        crawl_delay_ms: The delay asked for, in milliseconds; None: none asked.
        sitemaps: The sitemaps named, absolute, in order, each once.
        group: The product token whose groups were taken; `*`, or empty if none was for us.
        uses: What it says of the use of pages.
    """

    def __init__(
        self,
        rules: Iterable[_Rule] = (),
        *,
        crawl_delay_ms: int | None = None,
        sitemaps: tuple[str, ...] = (),
        group: str = "",
        uses: Sequence[_Use] = (),
    ) -> None:
        self.crawl_delay_ms = crawl_delay_ms
        self.sitemaps = sitemaps
        self.group = group
        self._uses = sorted(uses, key=lambda use: len(use.pattern), reverse=True)
        best: dict[str, _Rule] = {}
        for rule in rules:
            known = best.get(rule.pattern)
            if known is None or rule.rank > known.rank:
                best[rule.pattern] = rule
        self._rules = best
        self._literals = sorted(p for p in best if not _is_wild(p))
        self._shorter = _longest_prefixes(self._literals)
        wild = [rule for pattern, rule in best.items() if _is_wild(pattern)]
        self._wild = sorted(wild, key=lambda rule: rule.rank, reverse=True)

    @classmethod
    def allow_all(cls) -> RobotsRules:
        """Return rules that forbid nothing."""
        return cls()

    @classmethod
    def forbid_all(cls) -> RobotsRules:
        """Return rules that forbid everything."""
        return cls([_Rule("/", allow=False, line=0)])

    def __len__(self) -> int:
        """Return how many different patterns there are."""
        return len(self._rules)

    def judge(self, url: str) -> RobotsVerdict:
        """Return the verdict on an absolute URL; robots.txt itself is always allowed."""
        path = path_of(url)
        if path == "/robots.txt":
            return RobotsVerdict(allowed=True, rule="robots.txt itself is always allowed")
        best = self._longest_literal(path)
        for rule in self._wild:
            if best is not None and rule.rank <= best.rank:
                break
            if _matches(rule.pattern, path):
                return rule.verdict()
        return RobotsVerdict(allowed=True, rule=_ALLOW_ALL) if best is None else best.verdict()

    @property
    def has_uses(self) -> bool:
        """Whether the file says anything of the use of pages."""
        return bool(self._uses)

    def uses(self, url: str) -> tuple[str, ...]:
        """Return what the file says of the use of a page: of each field the most specific lines.

        (As for Allow and Disallow, says the AIPREF draft on attachment.) Empty: nothing.
        """
        if not self._uses:
            return ()
        path, longest, said = path_of(url), dict[str, int](), list[str]()
        for use in self._uses:
            if not _covers(use.pattern, path):
                continue
            if longest.setdefault(use.field, len(use.pattern)) == len(use.pattern):
                said.append(str(use))
        return tuple(said)

    def _longest_literal(self, path: str) -> _Rule | None:
        """Return the longest literal pattern that the path begins with.

        Every pattern between it and the path, in sorted order, begins with it too, so it is the
        last pattern not after the path, or a prefix of that one.
        """
        index = bisect_right(self._literals, path) - 1
        while index >= 0:
            pattern = self._literals[index]
            if path.startswith(pattern):
                return self._rules[pattern]
            index = self._shorter[index]
        return None


def parse_robots(
    body: bytes,
    agents: Sequence[str],
    *,
    url: str = "",
    size_limit: int = 524_288,
) -> RobotsRules:
    """Read a robots.txt for a robot.

    Args:
        body: The bytes of the file; those beyond `size_limit` are not read.
        agents: The robot's names: product tokens, any case; none, or `*`, reads the groups of `*`.
        url: The robots.txt that was asked for; relative sitemaps are resolved against it.
        size_limit: Bytes to read.
    """
    names = {agent_token(name) for name in agents} - {"", "*"}
    reading = _Reading(names, url)
    for line in read_lines(body[:size_limit]):
        reading.take(line)
    return reading.rules()


class _Group:
    """What the groups of one kind of agent say, merged."""

    def __init__(self) -> None:
        self.rules: list[_Rule] = []
        self.uses: list[_Use] = []
        self.delay_ms: int | None = None

    def take(self, line: Line) -> None:
        if line.field == "crawl-delay":
            self.delay_ms = _slower(self.delay_ms, _delay_ms(line.value))
        elif line.field in _USE_FIELDS:
            self.uses.append(_use_of(line))
        elif pattern := pattern_of(line.value):
            self.rules.append(_Rule(pattern, line.field == "allow", line.number))


class _Reading:
    """The state between two lines of a file."""

    def __init__(self, names: set[str], url: str) -> None:
        self._names = names
        self._url = url
        self._ours = _Group()
        self._everyone = _Group()
        self._found = ""
        self._found_everyone = False
        self._open: list[_Group] = []  # groups that the next rule belongs to
        self._in_agents = False
        self._had_agents = False  # what is said before of use is said to everybody
        self._sitemaps: dict[str, None] = {}

    def take(self, line: Line) -> None:
        """Read one line.

        Only Allow and Disallow end a list of agents: other records must not interfere with the
        defined ones (RFC 9309 section 2.2.4), so agents with only a Crawl-delay between them share
        the rules that follow.
        """
        if line.field == "sitemap":
            self._take_sitemap(line.value)
        elif line.field == "user-agent":
            self._take_agent(line.value)
        else:
            self._in_agents = self._in_agents and line.field not in {"allow", "disallow"}
            to_all = line.field in _USE_FIELDS and not self._had_agents
            for group in [self._ours, self._everyone] if to_all else self._open:
                group.take(line)

    def rules(self) -> RobotsRules:
        """Return what was read: our groups, or those of everyone if none names us."""
        group = self._ours if self._found else self._everyone
        name = self._found or ("*" if self._found_everyone else "")
        return RobotsRules(
            group.rules,
            crawl_delay_ms=group.delay_ms,
            sitemaps=tuple(self._sitemaps),
            group=name,
            uses=group.uses,
        )

    def _take_agent(self, value: str) -> None:
        self._had_agents = True
        if not self._in_agents:
            self._open = []
            self._in_agents = True
        name = agent_token(value)
        if name in self._names:
            self._found = self._found or name
            self._add(self._ours)
        elif name == "*":
            self._found_everyone = True
            self._add(self._everyone)

    def _add(self, group: _Group) -> None:
        if group not in self._open:
            self._open.append(group)

    def _take_sitemap(self, value: str) -> None:
        target = value if scheme_of(value) else resolve(self._url, value)
        if value and target and host_of(target):
            self._sitemaps[target] = None


def _use_of(line: Line) -> _Use:
    """Return a line about use; its value may begin with the path that it is for."""
    path, _, rest = line.value.partition(" ")
    pattern = pattern_of(path) if path.startswith(("/", "*")) else ""
    name = _USE_FIELDS[line.field]
    return _Use(name, pattern or "/", rest.strip() if pattern else line.value, line.number)


def _covers(pattern: str, path: str) -> bool:
    return _matches(pattern, path) if _is_wild(pattern) else path.startswith(pattern)


def _is_wild(pattern: str) -> bool:
    return "*" in pattern or pattern.endswith("$")


def _matches(pattern: str, path: str) -> bool:
    """Say whether a path matches a pattern with wildcards; each piece is taken at its first place.

    The first place is enough: what follows a `*` may begin anywhere after it. Only the last piece
    of an anchored pattern must stand at the end.
    """
    anchored = pattern.endswith("$")
    first, *pieces = (pattern[:-1] if anchored else pattern).split("*")
    if not pieces:
        return path == first
    if not path.startswith(first):
        return False
    at = len(first)
    last = pieces.pop() if anchored else ""
    for piece in pieces:
        found = path.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return not anchored or (len(path) - at >= len(last) and path.endswith(last))


def _longest_prefixes(patterns: Sequence[str]) -> list[int]:
    """Return for each of the sorted patterns the index of the longest other that begins it."""
    found: list[int] = []
    for index, pattern in enumerate(patterns):
        candidate = index - 1
        while candidate >= 0 and not pattern.startswith(patterns[candidate]):
            candidate = found[candidate]
        found.append(candidate)
    return found


def _delay_ms(value: str) -> int | None:
    """Return a Crawl-delay in milliseconds; None if it is no number, or negative."""
    try:
        seconds = float(value)
    except ValueError:
        return None
    return round(min(seconds, _LONGEST_DELAY_S) * 1000) if seconds >= 0 else None


def _slower(known: int | None, new: int | None) -> int | None:
    """Return the longer of two delays: merged groups ask for both."""
    return new if known is None else max(known, new or 0)
