"""What a site says about the use of its pages: search, AI input, AI training, text and data mining.

Guarantee: total functions; every statement is kept with its source, and the answer to a purpose is
the strictest of what was said. Purposes have the names of Content-Signal; `train-ai` of AIPREF is
`ai-train`. What nobody said anything of has no entry.
Sources: `Content-Usage`, in headers and robots.txt (AIPREF drafts of the IETF: vocabulary and
attachment); `Content-Signal` in robots.txt (contentsignals.org); `noai`, `noimageai` in robots meta
elements and X-Robots-Tag; `tdm-reservation`, `tdm-policy` (TDM Reservation Protocol, W3C community
group). `/.well-known/tdmrep.json` is not asked for: it would be a request of its own to each host.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from filbert.rules.robots_tags import said_to_us

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["USE", "USES", "parsed_preferences", "use_preferences"]

USE = "use."
"""What the names of purposes begin with, in `parse_metadata`."""

USES = "_use_"
"""Metadata of a capture: what robots.txt said of the page's use, a line each; blank: nothing."""

_ANSWERS = {"y": "yes", "yes": "yes", "1": "yes", "n": "no", "no": "no", "0": "no"}
_NAMES = {"train-ai": "ai-train"}
_TAGS = {"noai": "ai-train", "noimageai": "ai-train-images"}
_WORD = re.compile(r"[\s,;]+")
_PAIR = re.compile(r"\s*([A-Za-z*][\w.*-]*)\s*=\s*([^,;\s]*)")
_RESERVED = {"1": "no", "0": "yes"}


def parsed_preferences(statement: str) -> dict[str, str]:
    """Return purpose to `yes` or `no` of an expression such as `search=yes, train-ai=n`.

    A value that is neither (a token of a later draft) says nothing that can be acted on.
    """
    found = {}
    for name, value in _PAIR.findall(statement):
        answer = _ANSWERS.get(value.lower())
        if answer is not None:
            purpose = name.lower()
            found[_NAMES.get(purpose, purpose)] = answer
    return found


def use_preferences(
    robots_txt: Iterable[str],
    headers: Mapping[str, Iterable[str]],
    meta: Mapping[str, Iterable[str]],
    agents: Sequence[str],
) -> dict[str, tuple[str, ...]]:
    """Return what is said of each purpose: the strictest answer, then each statement.

    Args:
        robots_txt: Statements of robots.txt for the page, such as `Content-Signal: ai-train=no`.
        headers: Of the reply, by lower-case name.
        meta: Meta elements of the page, by lower-case name.
        agents: Names under which robots directives are for us.

    Returns:
        `use.<purpose>` to (`yes` or `no`, "answer: where it says so: the statement", …).
    """
    said = _Said()
    for statement in robots_txt:
        said.expression(statement.partition(":")[2], f"robots.txt: {statement}")
    for value in headers.get("content-usage", ()):
        said.expression(value, f"header: Content-Usage: {value}")
    for value in said_to_us(headers.get("x-robots-tag", ()), agents):
        said.tags(value, f"header: X-Robots-Tag: {value}")
    for name in sorted({"robots", *(agent.lower() for agent in agents)}):
        for value in meta.get(name, ()):
            said.tags(value, f"meta {name}: {value}")
    said.reservation(headers, "header")
    said.reservation(meta, "meta")
    return said.entries()


class _Said:
    """What was said of each purpose: answer and source."""

    def __init__(self) -> None:
        self._by_purpose: dict[str, list[tuple[str, str]]] = defaultdict(list)

    def expression(self, text: str, source: str) -> None:
        for purpose, answer in parsed_preferences(text).items():
            self._by_purpose[purpose].append((answer, source))

    def tags(self, text: str, source: str) -> None:
        for word in _WORD.split(text.lower()):
            if word in _TAGS:
                self._by_purpose[_TAGS[word]].append(("no", source))

    def reservation(self, values: Mapping[str, Iterable[str]], place: str) -> None:
        for value in values.get("tdm-reservation", ()):
            answer = _RESERVED.get(value.strip())
            if answer is not None:
                self._by_purpose["tdm"].append((answer, f"{place}: tdm-reservation: {value}"))
        for value in values.get("tdm-policy", ()):
            self._by_purpose["tdm-policy"].append((value.strip(), f"{place}: tdm-policy"))

    def entries(self) -> dict[str, tuple[str, ...]]:
        return {f"{USE}{one}": _entry(said) for one, said in sorted(self._by_purpose.items())}


def _entry(statements: list[tuple[str, str]]) -> tuple[str, ...]:
    answers = [answer for answer, _ in statements]
    strictest = "no" if "no" in answers else answers[0]
    return strictest, *(f"{answer}: {source}" for answer, source in statements)
