"""What happened to a URL, in order of time.

Guarantee: every row that the facts hold is one statement; of the crawldb's versions those that
changed the row, each with what changed. Equal times stay in the order of a round: seen, generated,
fetched, parsed, absorbed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.model.statuses import FetchStatus, ParseMajor
from filbert.rules.explain_facts import Part, Statement
from filbert.rules.explain_words import (
    cut_by,
    fetch_label,
    listed,
    minor_label,
    page_label,
    protocol_label,
    redirect_fate,
    short_hash,
    span,
    was_asked,
    when,
)
from filbert.rules.plural import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filbert.rules.explain_facts import Facts, Row, VersionFacts

__all__ = ["history", "segment_time"]

_ORDER = ("seen", "linked", "generated", "left_due", "redirected", "fetched", "parsed", "crawldb")


def history(facts: Facts) -> list[Statement]:
    """Return all that happened, oldest first."""
    events = [
        *_seen(facts),
        *(_generated(row) for row in facts.generated),
        *(_left_due(row) for row in facts.left_due),
        *(_redirected(row) for row in facts.redirects_here if row["url"] != facts.key),
        *(_fetched(row, facts) for row in facts.fetched),
        *(_parsed(row, facts) for row in facts.parsed),
        *_changes(facts),
    ]
    return sorted(events, key=lambda event: (event.time or 0, _ORDER.index(event.kind)))


def _event(kind: str, time: int | None, text: str, *notes: str, **facts: object) -> Statement:
    kept = tuple(note for note in notes if note)
    return Statement(part=Part.HISTORY, kind=kind, time=time, text=text, notes=kept, facts=facts)


def _seen(facts: Facts) -> Iterator[Statement]:
    row = facts.origin
    if row is not None:
        origin, place = str(row["origin"]), row["origin_url"]
        words = {
            "seed": f"it was a seed: {place}",
            "link": f"{place} links to it",
            "redirect": f"{place} redirects to it",
            "refresh": f"{place} sends browsers on to it",
            "sitemap": f"the sitemap {place} names it",
            "import": f"it was imported from {place}",
        }
        text = words.get(origin, f"{origin} {place}")
        yield _event(
            "seen", int(row["first_seen"]), f"First seen: {text}", origin=origin, origin_url=place
        )
    elif facts.links.mention_rows:
        row = facts.links.mention_rows[0]
        text = f"First named by {row['from_url']} ({row['kind']}, segment {row['segment']})"
        yield _event("linked", int(row["fetch_time"]), text, from_url=row["from_url"])


def _generated(row: Row) -> Statement:
    place = f"part {row['part']}, position {row['position']}"
    return _event(
        "generated",
        row["generate_time"] or segment_time(str(row["segment"])),
        f"Chosen for segment {row['segment']} ({place})",
        segment=row["segment"],
        list_part=row["part"],
        position=row["position"],
    )


def _left_due(row: Row) -> Statement:
    return _event(
        "left_due",
        row["generate_time"] or segment_time(str(row["segment"])),
        f"Not fetched with segment {row['segment']}, and left due: {row['meaning']}",
        segment=row["segment"],
        reason=row["reason"],
    )


def segment_time(name: str) -> int | None:
    """Return the time in a segment's name, epoch ms; None if it holds none."""
    from datetime import UTC, datetime

    try:
        moment = datetime.strptime(name[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(moment.timestamp() * 1000)


def _redirected(row: Row) -> Statement:
    verdict = redirect_fate(row["redirect_verdict"])
    return _event(
        "redirected",
        int(row["fetch_time"]),
        f"{row['url']} redirected to it ({fetch_label(row['status'])}); that was {verdict}",
        from_url=row["url"],
        verdict=verdict,
        segment=row["segment"],
    )


def _fetched(row: Row, facts: Facts) -> Statement:
    status = fetch_label(row["status"])
    said = "Asked for in" if was_asked(row) else "Chosen for, and not asked for in,"
    return _event(
        "fetched",
        int(row["fetch_time"]),
        f"{said} segment {row['segment']}: {status}{_reply(row)}",
        _protocol(row),
        _redirect_note(row),
        f"robots.txt: {row['robots_rule']}" if row["robots_rule"] else "",
        f"the body was cut: {cut_by(row['truncated'], row['url'])}" if row["truncated"] else "",
        _capture(row),
        "in the journal of that segment, whose fetch has not ended"
        if row["segment"] in facts.under_way
        else "",
        segment=row["segment"],
        hop=row["hop"],
        status=status,
        protocol_status=protocol_label(row["protocol_code"]),
        http_status=row["http_status"],
        reason=row["reason"],
        message=row["protocol_message"],
        redirect_url=row["redirect_url"],
        redirect_verdict=row["redirect_verdict"],
        robots_rule=row["robots_rule"],
        ip=row["ip"],
        response_ms=row["response_ms"],
        asked=was_asked(row),
        content_type=row["content_type"],
        truncated=row["truncated"],
        warc_file=row["warc_file"],
        warc_offset=row["warc_offset"],
        warc_length=row["warc_length"],
        signature=short_hash(row["signature"]),
    )


def _reply(row: Row) -> str:
    parts = []
    if row["http_status"] is not None:
        parts.append(f"HTTP {row['http_status']}")
    if row["content_type"] and row["status"] == FetchStatus.FETCH_SUCCESS:
        parts.append(str(row["content_type"]))
    if row["response_ms"] is not None:
        parts.append(f"{row['response_ms']} ms")
    if row["ip"]:
        parts.append(f"from {row['ip']}")
    return f", {', '.join(parts)}" if parts else ""


def _protocol(row: Row) -> str:
    name = str(row["reason"] or protocol_label(row["protocol_code"]))
    message = str(row["protocol_message"] or "").removeprefix(f"{name}: ")
    if row["robots_rule"]:
        message = message.replace(str(row["robots_rule"]), "").strip(" :")
    if not row["reason"] and not message:
        return ""
    return f"{name}: {message}" if message and message != name else name


def _redirect_note(row: Row) -> str:
    hop = f"reached as hop {row['hop']} of a redirect" if row["hop"] else ""
    verdict = row["redirect_verdict"]
    if not row["redirect_url"] and not verdict:
        return hop
    where = row["redirect_url"] or "nowhere"
    target = f"redirects to {where}; that was {redirect_fate(verdict)}"
    if row.get("target_status"):
        target += f", and is in the crawldb as {page_label(row['target_status'])}"
    return f"{hop}; {target}" if hop else target


def _capture(row: Row) -> str:
    if not row["warc_file"]:
        return ""
    return f"capture: {row['warc_file']} at {row['warc_offset']}, {row['warc_length']} bytes"


def _parsed(row: Row, facts: Facts) -> Statement:
    fetched = [r for r in facts.fetched if r["segment"] == row["segment"]]
    time = max((int(r["fetch_time"]) for r in fetched), default=None)
    dropped = dict(row["outlinks_dropped"] or {})
    if row["major"] == ParseMajor.SUCCESS:
        text = f"Parsed{_by_parser(row)}: “{row['title'] or 'no title'}”"
    else:
        said = f": {row['parse_message']}" if row["parse_message"] else ""
        text = f"Not parsed{_by_parser(row)}: {minor_label(row['minor'])}{said}"
    return _event(
        "parsed",
        time,
        text,
        _language(row),
        _outlinks(row, dropped),
        _robots_tags(row),
        f"rel=canonical names {row['canonical_url']}" if row["canonical_url"] else "",
        segment=row["segment"],
        title=row["title"],
        charset=row["charset"],
        language=row["language"],
        outlinks_found=row["outlinks_found"],
        outlinks_kept=row["outlinks_kept"],
        outlinks_dropped=dropped,
        noindex=row["robots_noindex"],
        nofollow=row["robots_nofollow"],
        signature=short_hash(row["signature"]),
    )


def _by_parser(row: Row) -> str:
    return f" by {row['parser']}" if row["parser"] else ""


def _language(row: Row) -> str:
    parts = [str(part) for part in (row["charset"], row["language"]) if part]
    length = row.get("text_length")
    if length is not None:
        parts.append(count_of(int(length), "character"))
    return ", ".join(parts)


def _outlinks(row: Row, dropped: dict[str, str]) -> str:
    found, kept = int(row["outlinks_found"]), int(row["outlinks_kept"])
    text = f"{count_of(found, 'link')} found, {kept:,} kept"
    if dropped:
        text += f"; dropped: {listed(f'{why} {number}' for why, number in dropped.items())}"
    return text


def _robots_tags(row: Row) -> str:
    said = [name for name in ("noindex", "nofollow", "noarchive") if row[f"robots_{name}"]]
    return f"it says {', '.join(said)}" if said else ""


def _changes(facts: Facts) -> Iterator[Statement]:
    before: Row | None = None
    for version in facts.versions:
        if version.row != before:
            yield _change(version, before)
        before = version.row


def _change(version: VersionFacts, before: Row | None) -> Statement:
    after = version.row
    absorbed = f" of segment {listed(version.segments)}" if version.segments else ""
    head = f"{version.step}{absorbed}, crawldb version {version.version}"
    values: dict[str, object] = {"version": version.version, "step": version.step}
    if after is None:
        return _event("crawldb", version.time, f"{head}: it left the crawldb", **values)
    label = page_label(after["status"])
    values |= {"status": label, "score": after["score"], "due": int(after["fetch_time"])}
    due = f"due {when(int(after['fetch_time']))}"
    if before is None:
        text = f"{head}: it entered as {label}"
        return _event("crawldb", version.time, text, f"score {after['score']:.4g}, {due}", **values)
    old = page_label(before["status"])
    values["status_before"] = old
    moved = f"{old} → {label}" if old != label else f"it stayed {label}"
    notes = _differences(before, after)
    return _event("crawldb", version.time, f"{head}: {moved}", *notes, **values)


def _differences(before: Row, after: Row) -> list[str]:
    notes = []
    if before["fetch_time"] != after["fetch_time"]:
        notes.append(f"due {when(int(after['fetch_time']))}")
    if before["signature"] != after["signature"]:
        old, new = short_hash(before["signature"]), short_hash(after["signature"])
        notes.append(f"signature {old} → {new}")
    if before["fetch_interval"] != after["fetch_interval"]:
        old, new = (span(int(row["fetch_interval"]) * 1000) for row in (before, after))
        notes.append(f"interval {old} → {new}")
    if before["retries"] != after["retries"]:
        notes.append(f"failures in a row {before['retries']} → {after['retries']}")
    if before["score"] != after["score"]:
        notes.append(f"score {before['score']:.4g} → {after['score']:.4g}")
    if before["generate_time"] != after["generate_time"]:
        locked = after["generate_time"] is not None
        notes.append("locked for a segment" if locked else "the lock of its segment was lifted")
    return notes
