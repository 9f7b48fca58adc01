"""Which outlinks are kept."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from filbert.model.records import Link
from filbert.plugins.contracts import Scope
from filbert.plugins.registry import PluginRepository
from filbert.rules.outlinks import OutlinkPolicy, judge_target, select_outlinks
from filbert.rules.urls import place_of
from filbert.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "http://example.com/"


def _chain(url: str) -> tuple[str | None, str]:
    return (None, "regex") if "?" in url else (url.removesuffix("#"), "")


def test_targets_are_judged_as_by_nutch(repository: Path, tmp_path: Path) -> None:
    """Golden table outlink-filter, every row.

    By decision: a page always has an origin, so the row without one is compared without the rule.
    """
    chains = {}
    for filters in (("regex",), ("regex", "validator")):
        settings = Settings.model_validate({"urls": {"filters": filters}})
        chains[len(filters)] = PluginRepository(settings, tmp_path).url_chain()
    count = 0
    with gzip.open(repository / "tests/data/golden/outlink-filter.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            count += 1
            chain = chains[1 + ("validator" in row["conf"]["plugin.includes"])]
            asked = {"normalize": row["normalizers"], "judge": row["filters"]}
            mode = (row["mode"] or "").lower()
            policy = OutlinkPolicy(
                ignore_internal=row["ignore_internal"] and row["origin"] is not None,
                ignore_external=row["ignore_external"],
                mode="domain" if mode == "bydomain" else "host",
            )

            def judged(
                url: str,
                chain: object = chain,
                asked: dict[str, bool] = asked,
            ) -> tuple[str | None, str]:
                verdict = chain.apply(url, Scope.OUTLINK, **asked)  # type: ignore[attr-defined]
                return verdict.url, verdict.reason

            origin = place_of(row["from_url"])
            got, _ = judge_target(row["from_url"], row["to_url"], origin, policy, judged)
            assert got == row["result"], row
    assert count == 330


def test_every_link_is_kept_or_counted() -> None:
    """What is not kept is counted under one reason; the limit counts links that are kept."""
    links = [
        Link(url=url)
        for url in (
            PAGE, "http://example.com/a#", "http://example.com/?q",
            f"http://example.com/{'x' * 40}", "http://b.org/", "http://example.com/a", "http://example.com/c",
        )
    ]  # fmt: skip
    policy = OutlinkPolicy(max_links=2, max_length=40, ignore_external=True)
    outlinks = select_outlinks(PAGE, links, policy, _chain)
    assert [kept.link.url for kept in outlinks.kept] == ["http://example.com/a"] * 2
    assert outlinks.dropped == {"self": 1, "regex": 1, "length": 1, "external": 1, "limit": 1}
    assert len(outlinks.kept) + outlinks.dropped.total() == outlinks.found == len(links)


def test_no_limit_is_minus_one() -> None:
    """-1 keeps any number of links of any length; 0 keeps none."""
    links = [Link(url=f"http://b.org/{n}") for n in range(300)]
    free = OutlinkPolicy(max_links=-1, max_length=-1)
    assert len(select_outlinks(PAGE, links, free, _chain).kept) == 300
    none = select_outlinks(PAGE, links, OutlinkPolicy(max_links=0), _chain)
    assert none.dropped == {"limit": 300}


def test_internal_by_domain() -> None:
    """By domain, another host of the same registered domain is internal."""
    links = [Link(url="http://www.example.com/"), Link(url="http://example.org/")]
    policy = OutlinkPolicy(ignore_internal=True, mode="domain")
    assert select_outlinks(PAGE, links, policy, _chain).dropped == {"internal": 1}
