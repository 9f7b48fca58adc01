"""The table of commands: name → where it lives, and its line in `filbert --help`.

Guarantee: reading it imports nothing, so that help and completion are quick. A command is a
`click.Command` in a file of its own; it returns its exit code, or None for 0.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COMMANDS", "Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One command.

    Attributes:
        target: `module:attribute` of the click command.
        summary: Its line in the help.
        group: The heading that it stands under.
    """

    target: str
    summary: str
    group: str


_LOOP, _STEPS, _ASK, _KEEP = "The whole job", "Single steps", "Questions", "Upkeep"

COMMANDS: dict[str, Entry] = {
    "crawl": Entry("filbert.cli.crawl:command", "Crawl, index, and go on after a stop.", _LOOP),
    "search": Entry("filbert.cli.search:command", "Search what was crawled.", _LOOP),
    "explain": Entry("filbert.cli.explain:command", "Tell all that is known of a URL.", _LOOP),
    "inject": Entry("filbert.cli.inject:command", "Add seeds to the crawldb.", _STEPS),
    "generate": Entry("filbert.cli.generate:command", "Choose what to fetch next.", _STEPS),
    "fetch": Entry("filbert.cli.fetch:command", "Fetch a segment, politely.", _STEPS),
    "parse": Entry("filbert.cli.parse:command", "Take text and links out of pages.", _STEPS),
    "updatedb": Entry("filbert.cli.updatedb:command", "Bring a round into the crawldb.", _STEPS),
    "invertlinks": Entry("filbert.cli.invertlinks:command", "Collect who links to whom.", _STEPS),
    "dedup": Entry("filbert.cli.dedup:command", "Mark pages of equal content.", _STEPS),
    "index": Entry("filbert.cli.index:command", "Write documents to the index.", _STEPS),
    "clean": Entry("filbert.cli.clean:command", "Delete gone pages from the index.", _STEPS),
    "queues": Entry("filbert.cli.queues:command", "What a running fetch waits for.", _ASK),
    "readdb": Entry("filbert.cli.readdb:command", "Statistics and rows of the crawldb.", _ASK),
    "readseg": Entry("filbert.cli.readseg:command", "What is in a segment.", _ASK),
    "readlinkdb": Entry("filbert.cli.readlinkdb:command", "The links to a page.", _ASK),
    "sql": Entry("filbert.cli.sql:command", "Ask anything, in SQL.", _ASK),
    "diff": Entry("filbert.cli.diff:command", "What a round changed.", _ASK),
    "filterchecker": Entry(
        "filbert.cli.filterchecker:command", "Which URLs the filters keep, by which rule.", _ASK
    ),
    "normalizerchecker": Entry(
        "filbert.cli.normalizerchecker:command", "How the normalisers spell a URL.", _ASK
    ),
    "robots": Entry(
        "filbert.cli.robots:command", "Which URLs robots.txt allows, by which line.", _ASK
    ),
    "parsechecker": Entry(
        "filbert.cli.parsechecker:command", "What parsing makes of one page.", _ASK
    ),
    "rollback": Entry("filbert.cli.rollback:command", "Undo the last rounds.", _KEEP),
    "vacuum": Entry("filbert.cli.vacuum:command", "Drop old versions and segments.", _KEEP),
    "nutch": Entry(
        "filbert.cli.nutch:command", "Read Nutch's own data, take it over, give it back.", _KEEP
    ),
    "config": Entry("filbert.cli.config:command", "Show settings, import Nutch's.", _KEEP),
}
"""Every command, in the order of the help."""
