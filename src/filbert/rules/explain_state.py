"""When a URL is fetched next, its links, and whether it is in the index.

Guarantee: pure; the reasons are those that generate and index themselves decide by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.model.statuses import PageStatus, ParseMajor
from filbert.rules.explain_facts import Part, Statement
from filbert.rules.explain_words import (
    by_rule,
    distance,
    listed,
    redirect_fate,
    span,
    when,
)
from filbert.rules.plural import count_of
from filbert.rules.redirects import RedirectVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from filbert.rules.explain_facts import Facts, Row

__all__ = [
    "due_sentence",
    "index_sentence",
    "index_state",
    "links",
    "next_fetch",
    "unabsorbed",
    "under_way",
]


def next_fetch(facts: Facts) -> Iterator[Statement]:
    """Say why the page is, or is not, due, and when it becomes due."""
    page = facts.page
    if page is None:
        return
    interval = span(int(page["fetch_interval"]) * 1000)
    yield Statement(
        part=Part.NEXT,
        kind="due" if facts.due_reason == "" else "not_due",
        text=due_sentence(facts),
        notes=(f"a good fetch is good for {interval}; its score is {page['score']:.4g}",),
        facts={
            "reason": facts.due_reason,
            "fetch_time": int(page["fetch_time"]),
            "fetch_interval": int(page["fetch_interval"]),
            "lock_until": facts.lock_until,
        },
    )
    if facts.verdict.url is None:
        leaves = (
            "generate leaves it out" if facts.generate_filters else "generate.filter is off, though"
        )
        text = (
            f"The rules refuse it now ({facts.verdict.reason}{by_rule(facts.verdict.rule)}):"
            f" {leaves}."
        )
        yield Statement(part=Part.NEXT, kind="filtered", text=text, facts={})
    if facts.robots is not None and not facts.robots.allowed:
        text = "Even when it is due, robots.txt as it is stored keeps it from being fetched."
        yield Statement(part=Part.NEXT, kind="robots_denied", text=text, facts={})
    yield from _polite(facts)


def _polite(facts: Facts) -> Iterator[Statement]:
    if not (until := _left_alone(facts)):
        return
    text = f"Its host is left alone until {when(until)} ({distance(until, facts.now)})."
    why = "it failed, or asked for that by Retry-After (fetcher.max_retry_after_s: at most so long)"
    yield Statement(part=Part.NEXT, kind="backoff", text=text, notes=(why,), facts={"until": until})


def _left_alone(facts: Facts) -> int:
    """Return until when the page's host is left alone, epoch ms; 0: it is not."""
    row = facts.host.politeness
    until = int(row["backoff_until"] or 0) if row is not None else 0
    return until if until > facts.now else 0


def due_sentence(facts: Facts) -> str:
    """Say whether a known page is due, and why not."""
    page = facts.page
    assert page is not None
    due = int(page["fetch_time"])
    reason = facts.due_reason
    if reason == "":
        waiting = sorted(
            {str(row["segment"]) for row in facts.generated} & set(facts.open_segments)
        )
        if waiting:
            return (
                f"It is due since {when(due)}, and in the fetch list of {listed(waiting)}, which"
                " updatedb has not absorbed."
            )
        if facts.verdict.url is None and facts.generate_filters:
            return (
                f"It is due since {when(due)}, but generate leaves it out: {facts.verdict.reason}"
                f" refuses it now{by_rule(facts.verdict.rule)}."
            )
        if until := _left_alone(facts):
            return (
                f"It is due since {when(due)}, but its host is left alone until {when(until)}"
                f" ({distance(until, facts.now)})."
            )
        return f"It is due: the next generate may choose it (its time came on {when(due)})."
    if reason == "wait_for_update":
        return (
            f"It is in {listed(facts.open_segments or ['a segment'])}, which updatedb has not"
            f" absorbed, so generate leaves it until {when(facts.lock_until)}."
        )
    texts = {
        "schedule_rejected": f"It is not due before {when(due)} ({distance(due, facts.now)}).",
        "expr_rejected": "It is due, but generate.expr leaves it out.",
        "status_rejected": "It is due, but generate.restrict_status leaves its status out.",
        "score_too_low": f"It is due, but its score is below generate.min_score"
        f" ({facts.min_score}).",
        "interval_rejected": "It is due, but its interval is above generate.min_interval_s.",
    }
    return texts.get(reason or "", f"Its time to be fetched is {when(due)}.")


def under_way(facts: Facts) -> str:
    """Say of a fetch that lists the page and has not ended how far it is; empty: there is none."""
    listing = {str(row["segment"]) for row in (*facts.generated, *facts.fetched)}
    for name in sorted(listing & set(facts.under_way), reverse=True):
        here = any(row["segment"] == name for row in facts.fetched)
        which = "this page's among them" if here else "none of this page yet"
        captures = count_of(facts.under_way[name], "capture")
        return (
            f"The fetch of segment {name} has not ended: its journal has {captures}, {which};"
            " the tables show them when the fetch has gone on to its end."
        )
    return ""


def unabsorbed(facts: Facts) -> Row | None:
    """Return the newest fetch, if the crawldb does not know of it."""
    last = max(facts.fetched, key=lambda row: int(row["fetch_time"]), default=None)
    return last if last is not None and last["segment"] in facts.open_segments else None


def links(facts: Facts) -> Iterator[Statement]:
    """Say who links to it, and where it links."""
    known = facts.links
    if known.inlinks:
        yield Statement(
            part=Part.LINKS,
            kind="inlinks",
            text=f"The linkdb has {count_of(known.inlinks, 'link')} to it:",
            notes=tuple(f"{row['from_url']} “{row['anchor']}”" for row in known.inlink_rows),
            facts={
                "count": known.inlinks,
                "inlinks": [
                    {"from_url": row["from_url"], "anchor": row["anchor"]}
                    for row in known.inlink_rows
                ],
            },
        )
    elif facts.page is not None:
        others = "; links.ignore_internal leaves out those within a host"
        text = f"The linkdb has no link to it{others if facts.ignores_internal else ''}."
        yield Statement(part=Part.LINKS, kind="inlinks", text=text, facts={"count": 0})
    if known.mentions:
        yield Statement(
            part=Part.LINKS,
            kind="mentions",
            text=f"Links and redirects in segments name it {count_of(known.mentions, 'time')}:",
            notes=tuple(_mention(row) for row in known.mention_rows),
            facts={"count": known.mentions, "pages": [r["from_url"] for r in known.mention_rows]},
        )
    if known.outlinks:
        yield Statement(
            part=Part.LINKS,
            kind="outlinks",
            text=f"It links to {count_of(known.outlinks, 'page')}:",
            notes=tuple(_outlink(row) for row in known.outlink_rows),
            facts={"count": known.outlinks, "urls": [r["url"] for r in known.outlink_rows]},
        )


def _mention(row: Mapping[str, object]) -> str:
    anchor = f" “{row['anchor']}”" if row["anchor"] else ""
    return f"{row['from_url']}{anchor} ({row['kind']}, {row['segment']})"


def _outlink(row: Mapping[str, object]) -> str:
    anchor = f" “{row['anchor']}”" if row["anchor"] else ""
    return f"{row['url']}{anchor}{_KINDS.get(str(row['kind']), '')}"


_KINDS = {"redirect": " (it redirects there)", "refresh": " (it sends browsers on there)"}


def index_state(facts: Facts) -> Iterator[Statement]:
    """Say whether it is in the index, and why not."""
    document = facts.index.document
    if facts.page is None and document is None:
        return
    values: dict[str, object] = {"indexed": document is not None}
    notes: tuple[str, ...] = ()
    if document is not None:
        title = next(iter(document.get("title", [])), "")
        boost = next(iter(document.get("boost", [])), 0.0)
        segment = next(iter(document.get("segment", [])), "")
        anchors = document.get("anchor", [])
        notes = (
            (
                f"title “{title}”, {count_of(len(anchors), 'anchor')}, page score {boost:.4g},"
                f" from segment {segment}"
            ),
        )
        values |= {"title": title, "boost": boost, "segment": segment, "anchors": anchors}
    yield Statement(
        part=Part.INDEX,
        kind="indexed" if document is not None else "not_indexed",
        text=index_sentence(facts),
        notes=notes,
        facts=values,
    )


_GOES_ON = frozenset({RedirectVerdict.FOLLOWED, RedirectVerdict.LINKED, RedirectVerdict.DUPLICATE})

_NOT_INDEXED = {
    PageStatus.DB_UNFETCHED: "it has not been fetched",
    PageStatus.DB_GONE: "it is gone",
    PageStatus.DB_DUPLICATE: "it is a duplicate; the page that it equals is indexed instead",
    PageStatus.DB_ORPHAN: "no page links to it any more",
    PageStatus.DB_PARSE_FAILED: "it could not be parsed",
}


def index_sentence(facts: Facts) -> str:
    """Say whether the page is in the index, and why not."""
    if facts.index.document is not None:
        return "It is in the index."
    return f"It is not in the index: {_why_not_indexed(facts)}."


def _why_not_indexed(facts: Facts) -> str:
    if not facts.index.exists:
        return "there is no index yet"
    if facts.page is None:
        return "it is not in the crawldb"
    status = PageStatus(facts.page["status"])
    if status is PageStatus.DB_UNFETCHED and (last := unabsorbed(facts)) is not None:
        return f"updatedb has not absorbed its fetch with segment {last['segment']}"
    if facts.twin:
        return f"it is a duplicate of {facts.twin}, which is indexed instead"
    if status in {PageStatus.DB_REDIR_TEMP, PageStatus.DB_REDIR_PERM}:
        return _redirects(facts)
    return _NOT_INDEXED.get(status) or _fetched_not_indexed(facts)


def _redirects(facts: Facts) -> str:
    moved = [row for row in facts.fetched if row["redirect_url"]]
    if not moved:
        return "it redirects, and a redirect is not indexed"
    last = max(moved, key=lambda row: int(row["fetch_time"]))
    if last["redirect_verdict"] in _GOES_ON:
        return f"it redirects to {last['redirect_url']}, and a redirect itself is not indexed"
    fate = redirect_fate(last["redirect_verdict"])
    return f"it redirects to {last['redirect_url']}, which was {fate}"


def _fetched_not_indexed(facts: Facts) -> str:
    if not facts.parsed:
        return "it was not parsed, or its segment is not kept"
    last = facts.parsed[-1]
    if last["segment"] not in facts.index.segments:
        return f"segment {last['segment']} has not been indexed"
    if last["robots_noindex"]:
        return "it says noindex (index.delete_robots_noindex)"
    if last["major"] != ParseMajor.SUCCESS:
        return "its parse failed"
    return "an index filter left it out, or it changed after the last `filbert index`"
