"""How it stands with a URL in a few sentences, and what the rules say of it now.

Guarantee: pure; what is not known is said, with the nearest that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.model.statuses import FetchStatus, PageStatus, ProtocolStatus
from filbert.rules.explain_facts import Part, Statement
from filbert.rules.explain_state import due_sentence, index_sentence, unabsorbed, under_way
from filbert.rules.explain_words import (
    by_rule,
    distance,
    fetch_label,
    listed,
    page_label,
    page_meaning,
    redirect_fate,
    was_asked,
    when,
)
from filbert.rules.plural import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filbert.rules.explain_facts import Facts, RobotsFacts, Row

__all__ = ["answer", "rules_now"]


def answer(facts: Facts) -> Iterator[Statement]:
    """Say in a few sentences how it stands with the URL."""
    if facts.page is not None:
        yield _known(facts)
    else:
        yield from _unknown(facts)


def _known(facts: Facts) -> Statement:
    page = facts.page
    assert page is not None
    status = int(page["status"])
    sentences = [f"It is in the crawldb as {page_label(status)}: {_meaning(facts)}."]
    if facts.fetched:
        sentences.append(_last_fetch(facts))
    if (left := _left_last(facts)) is not None:
        sentences.append(
            f"Segment {left['segment']} listed it, and left it due: {left['meaning']}."
        )
    if text := under_way(facts):
        sentences.append(text)
    sentences.append(due_sentence(facts))
    sentences.append(index_sentence(facts))
    return Statement(
        part=Part.ANSWER,
        kind="known",
        text=" ".join(sentences),
        facts={"key": facts.key, "status": page_label(status), "score": page["score"]},
    )


def _left_last(facts: Facts) -> Row | None:
    """Return why the newest fetch list that had the page left it, if it did."""
    if not facts.left_due:
        return None
    left = facts.left_due[-1]
    later = [row for row in facts.fetched if str(row["segment"]) >= str(left["segment"])]
    return None if later else left


def _last_fetch(facts: Facts) -> str:
    last = max(facts.fetched, key=lambda row: int(row["fetch_time"]))
    time = int(last["fetch_time"])
    came = [fetch_label(last["status"])]
    if last["http_status"] is not None:
        came.append(f"HTTP {last['http_status']}")
    if last["reason"]:
        came.append(str(last["reason"]))
    if last["robots_rule"] and not last["http_status"]:
        came.append(f"by {last['robots_rule']}")
    if last["redirect_url"]:
        came.append(f"to {last['redirect_url']}")
    told = f"{when(time)} ({distance(time, facts.now)})"
    if not was_asked(last):
        return f"It was last to be fetched on {told}, and not asked for: {', '.join(came)}."
    return f"Its last fetch, on {told}, gave {', '.join(came)}."


def _meaning(facts: Facts) -> str:
    page = facts.page
    assert page is not None
    if (last := unabsorbed(facts)) is not None:
        return f"so it was before segment {last['segment']}, which updatedb has not absorbed"
    retries = int(page["retries"])
    if page["status"] == PageStatus.DB_UNFETCHED and retries:
        failed = count_of(retries, "time")
        return f"fetching it failed {failed} in a row, and it will be tried again"
    if page["status"] == PageStatus.DB_GONE and facts.fetched:
        return _why_gone(facts)
    if facts.twin:
        return f"it is a duplicate of {facts.twin}"
    return page_meaning(page["status"])


def _why_gone(facts: Facts) -> str:
    last = max(facts.fetched, key=lambda row: int(row["fetch_time"]))
    if last["protocol_code"] == ProtocolStatus.ROBOTS_DENIED:
        return "robots.txt forbids it"
    if last["http_status"] in {404, 410}:
        return "its server says that it does not exist"
    if last["status"] == FetchStatus.FETCH_RETRY:
        return "fetching it failed too often"
    return page_meaning(PageStatus.DB_GONE)


def _unknown(facts: Facts) -> Iterator[Statement]:
    verdict = facts.verdict
    reason, text = "never_linked", ""
    before = [version for version in facts.versions if version.row is not None]
    if before:
        reason = "removed"
        last = before[-1]
        gone = next(v for v in facts.versions if v.version > last.version and v.row is None)
        text = (
            f"It is not in the crawldb any more: {gone.step} took it out on {when(gone.time)}"
            f" (version {gone.version}); before, it was {page_label(last.row['status'])}."  # type: ignore[index]  # chosen above
        )
    elif facts.no_url:
        reason, text = "no_url", f"It is not in the crawldb, and cannot be: {facts.no_url}."
    elif verdict.url is None:
        reason = "refused"
        text = (
            "It is not in the crawldb, and would not be let in:"
            f" {verdict.reason} refuses it{by_rule(verdict.rule)}."
        )
    elif facts.links.mentions:
        reason, text = _mentioned(facts)
    elif facts.redirects_here:
        reason = "redirect_dropped"
        row = facts.redirects_here[0]
        text = (
            f"It is not in the crawldb. {row['url']} redirects to it; that was"
            f" {redirect_fate(row['redirect_verdict'])}."
        )
    else:
        text = (
            "It is not in the crawldb. The rules would let it in, but no seed names it, and no"
            " page that was fetched and parsed links to it."
        )
    yield Statement(part=Part.ANSWER, kind=reason, text=text, facts={"key": facts.key})
    yield from _host_known(facts)


def _mentioned(facts: Facts) -> tuple[str, str]:
    row = facts.links.mention_rows[0]
    where = f"{row['from_url']} names it ({row['kind']}, segment {row['segment']})"
    if row["segment"] in facts.open_segments:
        text = f"It is not in the crawldb yet: {where}, and updatedb has not absorbed that segment."
        return "not_absorbed", text
    text = (
        f"It is not in the crawldb, although {where}: it came in under another key, or updatedb"
        " was told not to add pages (update.additions_allowed)."
    )
    return "not_added", text


def _host_known(facts: Facts) -> Iterator[Statement]:
    host = facts.host
    if not host.host:
        return
    if not host.pages:
        yield Statement(
            part=Part.ANSWER,
            kind="host_unknown",
            text=f"No URL of the host {host.host} is known.",
            facts={"host": host.host, "pages": 0},
        )
        return
    statuses = [f"{n:,} {page_label(code)}" for code, n in sorted(host.by_status.items())]
    yield Statement(
        part=Part.ANSWER,
        kind="host_known",
        text=f"{count_of(host.pages, 'URL')} of the host {host.host}"
        f" {'is' if host.pages == 1 else 'are'} known: {listed(statuses)}."
        + (" The nearest:" if host.near else ""),
        notes=host.near,
        facts={"host": host.host, "pages": host.pages, "near": list(host.near)},
    )


def rules_now(facts: Facts) -> Iterator[Statement]:
    """Say what each normaliser, each filter and robots.txt make of the URL now."""
    if facts.broken:
        text = f"they cannot be asked, and filbert's own were taken to find its key: {facts.broken}"
        yield Statement(part=Part.RULES, kind="broken", text=text, facts={"error": facts.broken})
    for step in facts.verdict.steps:
        values: dict[str, object] = {"plugin": step.plugin, "input": step.input}
        if step.verdict is None:
            text = _normalised(step.plugin, step.input, step.output)
            values["output"] = step.output
            yield Statement(part=Part.RULES, kind="normalizer", text=text, facts=values)
            continue
        said = "accepts it" if step.verdict.accepted else "refuses it"
        text = f"filter {step.plugin} {said}{by_rule(step.verdict.rule)}"
        values |= {"accepted": step.verdict.accepted, "rule": step.verdict.rule}
        yield Statement(part=Part.RULES, kind="filter", text=text, facts=values)
    if facts.key and facts.key != facts.asked:
        yield Statement(
            part=Part.RULES,
            kind="key",
            text=f"it {'is' if facts.page else 'would be'} stored under {facts.key}",
            facts={"key": facts.key},
        )
    yield from _robots(facts)


def _normalised(plugin: str, before: str, after: str | None) -> str:
    if after is None:
        return f"normaliser {plugin}: this is no URL"
    if after == before:
        return f"normaliser {plugin} leaves it as it is"
    return f"normaliser {plugin} makes it {after}"


def _robots(facts: Facts) -> Iterator[Statement]:
    robots = facts.robots
    if facts.no_url:
        return
    if facts.robots_failure:
        text = f"{facts.robots_failure}; without it nothing is fetched there"
        values = {"known": False, "reason": facts.robots_failure}
        yield Statement(part=Part.RULES, kind="robots", text=text, facts=values)
    elif robots is None and facts.key and facts.key.startswith(("http://", "https://")):
        text = "no robots.txt of its host was asked for yet; that comes before its first fetch"
        yield Statement(part=Part.RULES, kind="robots", text=text, facts={"known": False})
    if robots is not None:
        yield _robots_read(robots)


def _robots_read(robots: RobotsFacts) -> Statement:
    answered = f"HTTP {robots.http_status}" if robots.http_status is not None else "no answer"
    said = "allows it" if robots.allowed else "forbids it"
    rule = f": {answered} means {robots.meaning}"
    if robots.read:
        rule = by_rule(robots.rule) if robots.line else f": {robots.rule}"
    group = f", in the group for {robots.group}" if robots.read and robots.group else ""
    age = " too old now, it is asked for again before the next fetch" if robots.expired else ""
    return Statement(
        part=Part.RULES,
        kind="robots",
        text=f"{robots.url} {said}{rule}{group}",
        notes=(f"read on {when(robots.time)}, {answered}{';' if age else ''}{age}",),
        facts={
            "known": True,
            "allowed": robots.allowed,
            "rule": robots.rule,
            "group": robots.group,
            "robots_url": robots.url,
            "http_status": robots.http_status,
            "read": when(robots.time),
        },
    )
