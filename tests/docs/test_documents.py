"""Every name in the documents that this project implements has its home.

The list of names is the page `spec/documents.md` beside the source tree. A row says which file
plays the part, and by which words in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SRC = "src/filbert/"
GLOSSARY = "docs/glossary.md"

HOMES: dict[str, str] = {
    # A and B: records that read and write themselves, of Nutch 0.6 and 0.7
    "Writable": SRC + "nutch/writable.py::class Writable",
    "Cloneable": SRC + "nutch/writable.py::Cloneable",
    "WritableComparable": SRC + "nutch/writable.py::class WritableComparable",
    "readFields": SRC + "nutch/writable.py::readFields",
    "read": SRC + "nutch/writable.py::def read",
    "write": SRC + "nutch/writable.py::def write",
    "VersionedWritable": SRC + "nutch/writable.py::class VersionedWritable",
    "VersionMismatchException(expected, found)": SRC
    + "nutch/writable.py::class VersionMismatchError",
    "FetchListEntry": SRC + "nutch/v07/page.py::class FetchListEntry",
    "fetchlist": SRC + 'nutch/v07/page.py::DIR_NAME: ClassVar[str] = "fetchlist"',
    "Page": SRC + "nutch/v07/page.py::class Page",
    "FetcherOutput": SRC + "nutch/v07/fetched.py::class FetcherOutput",
    "Content": SRC + "nutch/v07/fetched.py::class Content",
    "content": SRC + 'nutch/v07/fetched.py::DIR_NAME: ClassVar[str] = "content"',
    "Properties": SRC + "nutch/data.py::def read_properties",
    "UTF8": SRC + "nutch/simple.py::class UTF8",
    "MD5Hash": SRC + "nutch/simple.py::class MD5Hash",
    "WritableUtils": SRC + "nutch/data.py::WritableUtils",
    "db.default.fetch.interval": SRC + "settings/nutch_names.py",
    # C: the old fetcher
    "Fetcher [-logLevel level] [-showThreadID] [-threads n] dir": SRC
    + "cli/fetch07.py::[-logLevel level] [-showThreadID] [-threads n] dir",
    'ArrayFile.Reader(dir, "fetchlist")': SRC + "nutch/v07/segment.py::def fetch_list",
    "ArrayFile.Writer": SRC + "nutch/array_file.py::class ArrayFileWriter",
    "fetcher": SRC + 'nutch/v07/fetched.py::DIR_NAME: ClassVar[str] = "fetcher"',
    "run()": SRC + "steps/nutch_fetch07.py::def run",
    "close()": SRC + "nutch/v07/segment.py::class OldSegmentWriter",
    "handleNoFetch": SRC + "nutch/v07/handle.py::def handle_no_fetch",
    "handleFetch": SRC + "nutch/v07/handle.py::def handle_fetch",
    "outputPage": SRC + "nutch/v07/segment.py::def output_page",
    "logError": SRC + "steps/nutch_fetch07.py::logError",
    "ParserFactory": SRC + "parser/parsing.py::ParserFactory",
    "ParserFactory.getParser": SRC + "plugins/registry.py::def parsers",
    "getParse": SRC + "plugins/contracts.py::def parse",
    "ProtocolFactory": SRC + "plugins/registry.py::def protocols",
    "PluginRepository": SRC + "plugins/registry.py::class PluginRepository",
    # D: the update of the crawldb
    "CrawlDb": SRC + "steps/update.py",
    "CrawlDbFilter": SRC + "steps/url_chain.py::CrawlDbFilter",
    "CrawlDbReducer": SRC + "rules/update.py::CrawlDbReducer",
    "initialScore": SRC + "plugins/contracts.py::initial",
    "setFetchSchedule": SRC + "rules/transitions.py::setFetchSchedule",
    "setPageRetrySchedule": SRC + "rules/transitions.py::setPageRetrySchedule",
    "setPageGoneSchedule": SRC + "rules/transitions.py::setPageGoneSchedule",
    "forceRefetch": SRC + "rules/transitions.py::forceRefetch",
    "updateDbScore": SRC + "plugins/contracts.py::update",
    "db.fetch.interval.max": SRC + "settings/nutch_names.py",
    # E: the later fetcher
    "QueueFeeder": SRC + "fetcher/feeder.py::class QueueFeeder",
    "FetchItemQueues": SRC + "rules/politeness.py::FetchItemQueues",
    "FetcherThread": SRC + "fetcher/workers.py::class FetcherThread",
    "fetcher.timelimit.mins": SRC + "settings/nutch_names.py",
    "fetcher.queue.mode": SRC + "settings/nutch_names.py",
    "fetcher.threads.per.host.by.ip": SRC + "settings/nutch_names.py",
    "fetcher.max.crawl.delay": SRC + "settings/nutch_names.py",
    "fetcher.server.delay": SRC + "settings/nutch_names.py",
    "fetcher.store.content": SRC + "settings/nutch_names.py",
    "protocol.plugin.check.robots": SRC + "settings/nutch_missing.py",
    "protocol.plugin.check.blocking": SRC + "settings/nutch_missing.py",
    "_pst_": SRC + "model/schemas.py::protocol_code",
    "_fst_": SRC + "model/schemas.py::FetchStatus",
    "_ftk_": GLOSSARY,
    "_repr_": SRC + "model/schemas.py::repr_url",
    "nutch.segment.name": GLOSSARY,
    "ParseUtil": SRC + "parser/parsing.py::ParseUtil",
    "HtmlParser": SRC + "plugins/parsers/html.py::class HtmlParser",
    "FetcherOutputFormat": SRC + "store/captures.py::FetcherOutputFormat",
    "crawl_fetch": SRC + "model/schemas.py::CRAWL_FETCH",
    "crawl_generate": SRC + "model/schemas.py::CRAWL_GENERATE",
    "crawl_parse": SRC + "model/schemas.py::CRAWL_PARSE",
    "parse_data": SRC + "model/schemas.py::PARSE_DATA",
    "parse_text": SRC + "model/schemas.py::PARSE_TEXT",
    "ParseOutputFormat": SRC + "parser/rows.py::ParseOutputFormat",
    "db.parsemeta.to.crawldb": SRC + "settings/nutch_names.py",
    "db.max.outlinks.per.page": SRC + "settings/nutch_names.py",
    "adjust": SRC + "model/schemas.py::adjust",
    # the page's own references
    "tests/docs/test_documents.py": "tests/docs/test_documents.py",
    "docs/glossary.md": GLOSSARY,
    "docs/from-nutch.md": "docs/from-nutch.md",
}
"""Name in the documents → the file or folder, and (`::`) what it says there."""

FIELDS_NAMES = (
    "CrawlDatum", "CrawlDbFilter", "CrawlDbReducer", "QueueFeeder", "FetchItem",
    "FetchItemQueue", "FetchItemQueues", "FetcherThread", "FetchListEntry", "Page", "Content",
    "FetcherOutput", "FetcherOutputFormat", "ParseOutputFormat", "ParseData", "ParseText",
    "ProtocolStatus", "ProtocolFactory", "ParserFactory", "PluginRepository", "Writable",
    "handleFetch", "handleNoFetch", "outputPage",
)  # fmt: skip
"""The field's names that must stay findable."""


def test_every_name_of_the_documents_has_a_row(shared_dir: Path) -> None:
    """The table has a row for each name on the page, and no other."""
    page = (shared_dir / "spec" / "documents.md").read_text(encoding="utf-8")

    assert set(re.findall(r"`([^`]+)`", page)) == set(HOMES)


@pytest.mark.parametrize("name", HOMES)
def test_a_name_has_its_home(name: str, repository: Path) -> None:
    """The file that plays the part is there, and says so by name."""
    path, _, symbol = HOMES[name].partition("::")
    place = repository / path

    assert place.is_dir() if path.endswith("/") else place.is_file()
    if path.endswith(".py") and path.startswith(SRC):
        wanted = symbol or (name if "settings/" in path else "")
        assert wanted in place.read_text(encoding="utf-8")
    elif path == GLOSSARY and name != GLOSSARY:
        assert name in place.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FIELDS_NAMES)
def test_the_fields_names_stay_findable(name: str, repository: Path) -> None:
    """A reader who knows Nutch finds each of its names in the glossary."""
    terms = re.findall(
        r"^\| ([^|]+) \|", (repository / GLOSSARY).read_text(encoding="utf-8"), re.MULTILINE
    )

    assert name in {term.strip() for row in terms for term in row.split(",")}
