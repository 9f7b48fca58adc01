"""A large crawldb and a parsed segment on it, made up: a pure function of their sizes.

URLs of about 65 characters over 125,000 hosts by a power law; half of the pages are fetched. The
segment fetches known pages; half of its links go to known and half to new pages, to each two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filbert.engine import duck
from filbert.engine.base import WriteFiles
from filbert.model.clock import FixedClock
from filbert.model.schemas import TABLES
from filbert.store.commits import Commit
from filbert.store.crawl import CrawlFolder

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from filbert.engine.base import WrittenFile

__all__ = ["NOW", "Sizes", "make_crawl"]

NOW = 1_796_000_000_000
_HOSTS = 125_000
_GENERATED = ("crawl_generate", "parse_data", "parse_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many rows of what."""

    pages: int
    fetches: int
    links: int

    @property
    def buckets(self) -> int:
        """Buckets of 100,000 to 800,000 rows."""
        buckets = 1
        while self.pages / buckets > 700_000:
            buckets *= 2
        return buckets


def make_crawl(path: Path, sizes: Sizes) -> None:
    """Make the crawl folder: a crawldb and one segment, fetched and parsed."""
    clock = FixedClock(NOW)
    crawl = CrawlFolder.create(path, clock=clock, buckets=sizes.buckets)
    connection = duck.connect(memory_limit_mb=8192, threads=2, spill_dir=path / "spill")
    with crawl.scratch("benchmark") as scratch:
        connection.execute(f"create temp table pages as {_page_sql(sizes)}")
        files = [
            _written(connection, scratch, "crawldb", f"select * from pages where bucket = {bucket}")
            for bucket in range(sizes.buckets)
        ]
        table = crawl.table("crawldb")
        table.commit(Commit(step="benchmark", add=tuple(files)))
        segment = crawl.new_segment(NOW)
        for name, sql in (("crawl_parse", _parse_sql(sizes)), ("crawl_fetch", _fetch_sql(sizes))):
            file = _written(connection, scratch, name, sql)
            segment.table(name).commit(Commit(step="benchmark", add=(file,)))
        for name in _GENERATED:
            segment.table(name).commit(Commit(step="benchmark"))
    connection.close()


def _written(
    connection: duckdb.DuckDBPyConnection, folder: Path, name: str, sql: str
) -> WrittenFile:
    file = duck.copy(connection, sql, WriteFiles(schema=TABLES[name], directory=folder, stem=name))
    assert file is not None
    return file


def _url(number: str) -> str:
    host = f"cast(floor({_HOSTS} * pow(({number} * 7919 % 1000003) / 1000003.0, 3)) as int)"
    return (
        f"'https://www.host' || {host} || '.example/section' || {number} % 97 || '/page-'"
        f" || {number} || '-of-the-site.html'"
    )


_HOST = "regexp_extract(url, '//([^/]+)/', 1)"
_PLACE = f"{_HOST} as host, substr({_HOST}, 5) as domain"
_DATUM = """
  cast(null as float) as fixed_interval, null as depth, null as max_depth, null as orphan_time,
  null as repr_url, null as metadata, null as metadata_types
"""


def _page_sql(sizes: Sizes) -> str:
    return f"""
    select url, cast(url_hash(url) % {sizes.buckets} as int) as bucket, {_PLACE},
      cast(case when n % 2 = 0 then 1 when n % 20 = 1 then 3 when n % 20 = 3 then 5 else 2 end
        as smallint) as status,
      {NOW} + (n * 104729 % 5184000 - 2592000) * 1000 as fetch_time,
      case when n % 2 = 1 then {NOW} - (n * 1299709 % 2592000) * 1000 end as modified_time,
      cast(0 as smallint) as retries, 2592000 as fetch_interval,
      cast(pow((n * 15485863 % 1000003) / 1000003.0, 4) as float) as score,
      case when n % 2 = 1 then unhex(md5(url)) end as signature,
      case when n % 2 = 1 then 'text/html' end as content_type, {_DATUM},
      null as generate_time, 0 as seq
    from (select i as n, {_url("i")} as url from range({sizes.pages}) t(i)) numbered
    """


def _fetched(sizes: Sizes) -> str:
    # Every so many-th page is fetched.
    return f"(i * {max(1, sizes.pages // sizes.fetches)})"


def _fetch_sql(sizes: Sizes) -> str:
    return f"""
    select url, {_PLACE}, 0 as hop, 0 as part, n as position,
      case when n % 40 = 0 then 37 when n % 40 = 1 then 34 when n % 40 = 2 then 36 else 33 end
        as status,
      {NOW} - 3600000 + n as fetch_time, null as modified_time, 0 as retries,
      2592000 as fetch_interval, cast(0.5 as float) as score, null as signature,
      'text/html' as content_type, {_DATUM}, 1 as protocol_code, null as protocol_message,
      200 as http_status, null as reason, null as robots_rule, null as raw_url,
      null as redirect_url, null as redirect_verdict, '192.0.2.1' as ip, 'http/1.1' as protocol,
      n % 500 as response_ms, null as truncated, 'part-00000.warc.gz' as warc_file,
      n * 9000 as warc_offset, 9000 as warc_length
    from (
      select i as n, {_url(_fetched(sizes))} as url from range({sizes.fetches}) t(i)
    ) numbered
    """


def _parse_sql(sizes: Sizes) -> str:
    per_page = max(1, sizes.links // sizes.fetches)
    target = (
        f"(case when i % 2 = 0 then i // 2 % {sizes.links // 4} * 7 % {sizes.pages}"
        f" else {sizes.pages} + i // 2 % {sizes.links // 4} end)"
    )
    source = _url(f"(i // {per_page} * {max(1, sizes.pages // sizes.fetches)})")
    page = _url(_fetched(sizes))
    return f"""
    select url, {_PLACE}, from_url, n % {per_page} as ordinal, 'outlink' as kind,
      true as to_db, true as to_linkdb, 'anchor text ' || n % 1000 as anchor,
      {NOW} - 3600000 as fetch_time, null as modified_time, 0 as retries,
      2592000 as fetch_interval, cast(0.5 / {per_page} as float) as score,
      null as signature, null as content_type, {_DATUM}
    from (
      select i as n, {_url(target)} as url, {source} as from_url from range({sizes.links}) t(i)
    ) numbered
    union all
    select url, {_PLACE}, url as from_url, {per_page} as ordinal, 'signature' as kind,
      true as to_db, false as to_linkdb, null as anchor, {NOW} - 3600000 as fetch_time,
      null as modified_time, 0 as retries, 2592000 as fetch_interval, cast(0 as float) as score,
      unhex(md5(url || n % 3)) as signature, null as content_type, {_DATUM}
    from (
      select i as n, {page} as url from range({sizes.fetches}) t(i)
    ) numbered
    where n % 40 > 2
    """
