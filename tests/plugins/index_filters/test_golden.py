"""The index filters give what Nutch's give, but for decisions named here."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from filbert.model.records import Document, Inlink
from filbert.plugins.contracts import IndexInput
from filbert.plugins.index_filters.anchor import AnchorIndexFilter
from filbert.plugins.index_filters.basic import BasicIndexFilter
from filbert.plugins.index_filters.more import MoreIndexFilter
from filbert.rules.urls import host_of
from filbert.settings.index import IndexSettings

if TYPE_CHECKING:
    from pathlib import Path

Case = dict[str, Any]
Fields = dict[str, list[Any]] | None


def our_fields(case: Case) -> Fields:
    """What our filters make of a case; None: dropped."""
    conf = case["conf"]
    settings = IndexSettings(
        max_title_length=int(conf.get("indexer.max.title.length", 100)),
        max_content_length=int(conf.get("indexer.max.content.length", -1)),
        add_domain=conf.get("indexer.add.domain") == "true",
        anchor_deduplicate=conf.get("anchorIndexingFilter.deduplicate") == "true",
        more_mime_type_parts=conf.get("moreIndexingFilter.indexMimeTypeParts") != "false",
    )
    page = index_input(case)
    document: Document | None = Document(url=case["url"], fields={})
    for one in (
        BasicIndexFilter(settings),
        AnchorIndexFilter(deduplicate=settings.anchor_deduplicate),
        MoreIndexFilter(type_parts=settings.more_mime_type_parts),
    ):
        document = one.filter(document, page) if document else None
    return {name: list(values) for name, values in document.fields.items()} if document else None


def index_input(case: Case) -> IndexInput:
    """A case of the table as our filters see it."""
    datum = case["datum_meta"]
    modified = case["modified_time"]
    return IndexInput(
        url=case["url"],
        segment="20261130201530",
        title=case["title"],
        text=case["text"],
        content_metadata={name: tuple(values) for name, values in case["content_meta"].items()},
        parse_metadata={name: tuple(values) for name, values in case["parse_meta"].items()},
        metadata={},
        content_type=datum.get("Content-Type"),
        language=None,
        charset=None,
        signature=None,
        noarchive=False,
        repr_url=datum.get("_repr_"),
        fetch_time=case["fetch_time"],
        modified_time=modified if modified > 0 else None,
        score=1.0,
        host=host_of(case["url"]),
        inlinks=tuple(Inlink(from_url=url, anchor=text) for url, text in case["inlinks"] or ()),
    )


def nutch_fields(case: Case) -> Fields:
    """What Nutch made of the case, dates as milliseconds; None: dropped by an exception."""
    if "error" in case:
        return None
    return {
        name: [v["date_ms"] if isinstance(v, dict) else v for v in values]
        for name, values in case["result"].items()
    }


def comparable(fields: Fields, case: Case) -> Fields:
    """Anchors stand in no order, and in any spelling if those that differ in case are one."""
    if fields is None or "anchor" not in fields:
        return fields
    anchors = fields["anchor"]
    if case["conf"].get("anchorIndexingFilter.deduplicate") == "true":
        anchors = [anchor.lower() for anchor in anchors]
    return {**fields, "anchor": sorted(anchors)}


def last_modified(case: Case) -> str:
    """The Last-Modified of a case, the parser's first."""
    for metadata in (case["parse_meta"], case["content_meta"]):
        for value in metadata.get("Last-Modified", ()):
            return str(value)
    return ""


DATES = {  # where we read a date otherwise than Nutch, and why
    "17.05.2024 10:11:12": 1715940672000,  # Nutch: a day of the year 22
    "Fri, 17 May 24 10:11:12 GMT": 1715940672000,  # Nutch: of the year 24
    "Fri, 17 May 2024 10:11:12 PST": 1715969472000,  # PST is UTC-8 (RFC 822); Nutch takes PDT
}


def by_decision(case: Case, theirs: Fields) -> tuple[str, Fields]:
    """What the decisions that a case meets make of Nutch's result; "" if it meets none."""
    if case["datum_meta"].get("_repr_") == "bad repr" and theirs is None:
        del case["datum_meta"]["_repr_"]
        return "a representative that is no URL is ignored", our_fields(case)
    if theirs is None:
        return "", theirs
    names, fields = [], dict(theirs)
    if last_modified(case) in DATES:
        names.append("dates")
        fields["date"] = fields["lastModified"] = [DATES[last_modified(case)]]
    if fields.get("title") == ["q.doc'"]:
        names.append("the quotation mark is no part of a file name")
        fields["title"] = ["q.doc"]
    return ", ".join(names), fields


def test_filters_agree_with_nutch(repository: Path) -> None:
    """Each line of Nutch's own results comes out of our filters, or by a named decision."""
    path = repository / "tests" / "data" / "indexing" / "indexing.jsonl.gz"
    differ: list[tuple[Case, Fields]] = []
    counted: Counter[str] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            ours = comparable(our_fields(case), case)
            theirs = comparable(nutch_fields(case), case)
            named, wanted = by_decision(case, theirs)
            if ours == theirs:
                counted["agree"] += 1
            elif named and ours == comparable(wanted, case):
                counted[named] += 1
            else:
                differ.append((case, ours))
    assert (differ, counted.total()) == ([], 190)
    assert counted["agree"] >= 150
