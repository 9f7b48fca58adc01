"""The closing words of a crawl: what came in, what was left out and why, where to go on.

Guarantee: every counter of every step is either a figure of the summary or named under "left out
or changed", so that nothing is dropped in silence. Pure: from a report to lines.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from filbert.rules.plural import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filbert.steps.crawl import CrawlReport

__all__ = ["summary_lines"]

# Counters that say what was done; each other one says what was left out, or changed, and why.
_FIGURES: dict[str, tuple[str, ...]] = {
    "inject": ("new_pages", "merged"),
    "generate": ("generated",),
    "fetch": (
        "fetch_success",
        "fetch_notmodified",
        "fetch_redir_temp",
        "fetch_redir_perm",
        "fetch_gone",
        "fetch_retry",
        "captured_by_earlier_calls",
        "bytes",
    ),
    "parse": ("pages", "links_found", "links_kept"),
    "updatedb": ("new_pages",),
    "invertlinks": ("links",),
    "dedup": (),
    "index": ("indexed",),
    "vacuum": ("segments_removed", "files_removed", "bytes_freed"),
}
_PLURALS = frozenset({"pages", "links", "segments", "files", "bytes"})
# Beginnings of counters that repeat what another one tells.
_TOLD_ELSEWHERE = {
    "inject": ("lines", "injected", "unique_seeds"),
    "generate": ("due",),
    "fetch": ("hop.", "robots.", "redirect.linked", "redirect.followed", "latency."),
    "parse": ("parser_", "success", "refresh"),
    "updatedb": ("pages", "linked_pages", "fetches", "fetch_", "parse_failed"),
}


def summary_lines(report: CrawlReport, crawl_dir: Path) -> Iterator[str]:
    """Yield the lines of the summary.

    Args:
        report: What the run did.
        crawl_dir: The crawl folder, as the user named it.
    """
    yield ""
    by_call = f", {report.rounds - report.before} of them by this call" if report.before else ""
    yield f"{count_of(report.rounds, 'round')} done{by_call}; ended: {report.ended}"
    for step, figures in _FIGURES.items():
        counted: Counter[str] = report.counters.get(step, Counter())
        told = [
            count_of(counted[name], _singular(_words(name)), _words(name))
            for name in figures
            if counted.get(name)
        ]
        if told:
            yield f"  {step:<12} {', '.join(told)}"
    left = list(_left_out(report))
    if left:
        yield "left out or changed, by reason:"
        yield from left
    yield from (f"  {note}" for note in report.notes)
    if report.only_completed:
        yield "This call completed a round that an earlier one had begun; it asked for no page."
    elif not report.pages:
        yield "NOTHING WAS FETCHED by this call; the reasons above and `filbert explain` say why."
    search = f'filbert search {crawl_dir} "words" · ' if report.searchable else ""
    yield f"go on: {search}filbert explain {crawl_dir} URL"


def _left_out(report: CrawlReport) -> Iterator[str]:
    for step, counted in report.counters.items():
        figures = _FIGURES.get(step, ())
        for name, count in sorted(counted.items(), key=lambda one: (-one[1], one[0])):
            told = name in figures or name.startswith(_TOLD_ELSEWHERE.get(step, ()))
            if count and not told:
                yield f"  {step:<12} {count:>9,}  {_words(name)}"


def _singular(words: str) -> str:
    return " ".join(word.removesuffix("s") if word in _PLURALS else word for word in words.split())


def _words(name: str) -> str:
    return name.replace("_", " ").replace(".", ": ")
