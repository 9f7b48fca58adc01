"""Our reading of robots.txt beside Nutch's, whose rules are those of crawler-commons.

Guarantee: a configuration counts as "by decision" only if the file or the answers hold what the
decision is about, and what differs is what it explains; see docs/from-nutch.md, Robots.
Source: the table `robots` of Nutch's `HttpRobotRulesParser` and `RobotRulesParser`.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from filbert.fetcher.robots_check import RobotsCheck, answer_by_file
from filbert.model.clock import FixedClock
from filbert.model.records import ProtocolOutput
from filbert.model.statuses import ProtocolStatus
from filbert.rules.outcome import http_protocol_status
from filbert.settings.load import load_settings
from filbert.testing.parity.report import Difference, ParityReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from filbert.fetcher.robots_check import RobotsAnswer
    from filbert.model.records import FetchRequest
    from filbert.settings import Settings

__all__ = ["DECISIONS", "run"]

_UNSET = -(2**63)  # Java's Long.MIN_VALUE: no Crawl-delay
_RULE = re.compile(r"^\s*(?:dis)?allow\s*:\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_BARE_SITEMAP = re.compile(r"^[ \t]*https?:\S*sitemap", re.IGNORECASE | re.MULTILINE)
_EMPTY_SITEMAP = re.compile(r"sitemap[ \t]*:[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_STAR_AND_MORE = re.compile(r"^\s*user-agent\s*:\s*\*[ \t]+\S", re.IGNORECASE | re.MULTILINE)
_DELAY = re.compile(r"^\s*crawl-delay\s*:[ \t]*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one reading says, ours or Nutch's; `None` among `allowed`: ask the host again later."""

    allowed: tuple[bool | None, ...]
    crawl_delay: int | None
    sitemaps: tuple[str, ...]
    requests: tuple[str, ...] = ()


def run(path: Path) -> ParityReport:
    """Hold every configuration of every line of the table beside what we say."""
    agree, decided, differences = 0, Counter[str](), list[Difference]()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            case = json.loads(line)
            for conf, result in zip(case["confs"], case["result"], strict=True):
                ours, theirs = _ours(case, conf), _theirs(result)
                names = [n for n, d in DECISIONS.items() if d(case, conf, ours, theirs)]
                if ours == theirs:
                    agree += 1
                elif names:
                    decided[names[0]] += 1
                else:
                    differences.append(_difference(f"{number} {case['url']} {conf}", ours, theirs))
    return ParityReport(agree=agree, differences=tuple(differences), by_decision=decided)


def _theirs(result: Mapping[str, Any]) -> Said:
    delay = result["crawl_delay"]
    waits = result["defer_visits"]
    return Said(
        allowed=tuple(None if waits else allowed for allowed in result["allowed"]),
        crawl_delay=None if delay == _UNSET else delay,
        sitemaps=tuple(result["sitemaps"]),
        requests=tuple(result.get("requests", ())),
    )


def _ours(case: Mapping[str, Any], conf: Mapping[str, str]) -> Said:
    settings = _settings(conf)
    if case["kind"] == "fetch":
        return asyncio.run(_asked(case, settings))
    body = _content(case)
    names = settings.http.robot_names()
    answers = [answer_by_file(body, url, settings, names) for url in case["urls"]]
    return _said(answers)


async def _asked(case: Mapping[str, Any], settings: Settings) -> Said:
    web = _Answers(case["responses"])
    async with RobotsCheck(settings, [web], clock=FixedClock(0)) as check:
        answers = [await check.answer(url) for url in case["urls"]]
    return _said(answers, tuple(web.asked))


def _said(answers: list[RobotsAnswer], requests: tuple[str, ...] = ()) -> Said:
    (delay,) = {answer.crawl_delay_ms for answer in answers}
    (sitemaps,) = {answer.sitemaps for answer in answers}
    allowed = tuple(answer.allowed for answer in answers)
    return Said(allowed=allowed, crawl_delay=delay, sitemaps=sitemaps, requests=requests)


def _settings(conf: Mapping[str, str]) -> Settings:
    # A delay would only make this slow: the answers come from here.
    overrides = [f"{name}={value}" for name, value in conf.items()]
    return load_settings(None, [*overrides, "fetcher.server_delay_s=0"], {}).settings


def _content(case: Mapping[str, Any]) -> bytes:
    if "content_base64" in case:
        return base64.b64decode(case["content_base64"])
    text: str = case.get("content", "")
    return text.encode("utf-8", "surrogatepass")


class _Answers:
    """Gives the answers of a case, and notes what was asked. A `FetchProtocol`."""

    name = "answers"
    schemes = frozenset({"http", "https"})
    robots = True

    def __init__(self, responses: Mapping[str, Mapping[str, Any]]) -> None:
        self.asked: list[str] = []
        self._responses = responses

    @classmethod
    def from_settings(cls, _settings: Settings, _folder: Path) -> Self:
        """Make one that answers 404 to everything."""
        return cls({})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    async def fetch(self, request: FetchRequest) -> ProtocolOutput:
        self.asked.append(request.url)
        said = self._responses.get(request.url, {"code": 404})
        if "exception" in said:
            return ProtocolOutput(status=ProtocolStatus.EXCEPTION, message="connect_failed: no")
        headers = {name.lower(): value for name, value in said.get("headers", {}).items()}
        location = headers.get("location")
        return ProtocolOutput(
            status=http_protocol_status(said["code"]),
            http_status=said["code"],
            body=_content(said),
            location=None if location is None else location.encode(),
        )


_Decision = "Callable[[Mapping[str, Any], Mapping[str, str], Said, Said], bool]"


def _text(case: Mapping[str, Any]) -> str:
    bodies = [case, *case.get("responses", {}).values()]
    return "\n".join(_content(body).decode("utf-8", "replace") for body in bodies)


def _only(field: str, ours: Said, theirs: Said) -> bool:
    """Say whether nothing but one field differs."""
    names = ("allowed", "crawl_delay", "sitemaps", "requests")
    return [n for n in names if getattr(ours, n) != getattr(theirs, n)] == [field]


def _bare_sitemap(case: Mapping[str, Any], _conf: object, ours: Said, theirs: Said) -> bool:
    lenient = _BARE_SITEMAP.search(_text(case)) or _EMPTY_SITEMAP.search(_text(case))
    return bool(lenient) and _only("sitemaps", ours, theirs)


def _many_delays(case: Mapping[str, Any], _conf: object, ours: Said, theirs: Said) -> bool:
    delays = [float(v) for v in _DELAY.findall(_text(case)) if v.replace(".", "", 1).isdigit()]
    slowest = round(max(delays, default=-1) * 1000)
    return _only("crawl_delay", ours, theirs) and ours.crawl_delay == slowest


def _stricter(ours: Said, theirs: Said) -> bool:
    """Say whether we only forbid more."""
    pairs = zip(ours.allowed, theirs.allowed, strict=True)
    return _only("allowed", ours, theirs) and all(ours is False for ours, t in pairs if ours != t)


def _star_and_more(case: Mapping[str, Any], _conf: object, ours: Said, theirs: Said) -> bool:
    return bool(_STAR_AND_MORE.search(_text(case))) and _stricter(ours, theirs)


def _stray(case: Mapping[str, Any], _conf: object, ours: Said, theirs: Said) -> bool:
    patterns = _RULE.findall(_text(case))
    stray = any("$" in p[:-1] or _STRAY_PERCENT.search(p) for p in patterns)
    return stray and _stricter(ours, theirs)


def _blanks(_case: object, conf: Mapping[str, str], ours: Said, theirs: Said) -> bool:
    blanks = ", " in conf.get("http.robots.agents", "")
    return blanks and ours.requests == theirs.requests and ours.sitemaps == theirs.sitemaps


def _success(case: Mapping[str, Any], _conf: object, ours: Said, theirs: Said) -> bool:
    codes = {said.get("code", 0) for said in case.get("responses", {}).values()}
    parsed = any(200 < code < 300 for code in codes) and all(theirs.allowed)
    return parsed and ours.requests == theirs.requests


def _unreachable(case: Mapping[str, Any], _conf: object, ours: Said, theirs: Said) -> bool:
    silent = any("exception" in said for said in case.get("responses", {}).values())
    return silent and set(ours.allowed) == {None} and ours.requests == theirs.requests


DECISIONS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, str], Said, Said], bool]] = {
    "bare-sitemap": _bare_sitemap,
    "longest-delay": _many_delays,
    "star-and-more": _star_and_more,
    "stray-characters": _stray,
    "agent-blanks": _blanks,
    "every-success": _success,
    "unreachable": _unreachable,
}
"""Decisions of docs/from-nutch.md, in the order in which a case is counted."""


def _difference(case: str, ours: Said, theirs: Said) -> Difference:
    return Difference(case=case, what="robots", theirs=str(theirs), ours=str(ours))
