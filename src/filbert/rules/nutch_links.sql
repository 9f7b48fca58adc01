-- The links of an imported segment: of crawl_parse and of parse_data, each pair one row.
--
-- Views   linked: what crawl_parse has (a datum, and no source); named: what parse_data has (source
--         and anchor, and no datum). Both were written page by page, so that the n-th of a target
--         in one is the n-th of it in the other.
with
linked_ranked as (
  select l.*, row_number() over (partition by url order by number) as place
  from linked l
),
named_ranked as (
  select n.*, row_number() over (partition by url order by page, ordinal) as place
  from named n
)
select
  coalesce(l.url, n.url) as url,
  coalesce(l.host, n.host) as host,
  coalesce(l.domain, n.domain) as domain,
  n.from_url,
  cast(coalesce(n.ordinal, l.ordinal) as int) as ordinal,
  'outlink' as kind,
  l.url is not null as to_db,
  n.url is not null as to_linkdb,
  n.anchor,
  coalesce(l.fetch_time, 0) as fetch_time,
  l.modified_time,
  coalesce(l.retries, 0) as retries,
  coalesce(l.fetch_interval, {{interval}}) as fetch_interval,
  coalesce(l.score, 0) as score,
  l.signature,
  l.fixed_interval,
  l.depth,
  l.max_depth,
  l.orphan_time,
  l.content_type,
  l.repr_url,
  map_overlay(l.metadata, n.link_metadata) as metadata,
  l.metadata_types
from linked_ranked l
full join named_ranked n on n.url = l.url and n.place = l.place
