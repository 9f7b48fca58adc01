-- What a round's captures say: one row per page that was fetched, the newest capture of it.
--
-- Views   crawl_fetch, crawl_parse: the rows of all segments of the round; captured:
--         update_captured.sql.
-- Nutch   CrawlDbReducer.reduce: collecting fetch, signature and parse metadata.
--
-- crawl_fetch is the commit record of a capture: rows of crawl_parse that a crash left without it
-- do not count. (Every part says so for itself: the engines then read only what it needs.)
with
captures as (
  select url, host, domain, status, fetch_time, part, position, hop,
    cast(null as string) as inside, {{datum}}
  from crawl_fetch
  union all
  -- A document inside another enters as if it had been fetched.
  select url, host, domain, {{fetch_success}} as status, fetch_time, -1 as part,
    cast(ordinal as bigint) as position, 0 as hop, from_url as inside, {{datum}}
  from {{said}}
    and kind = 'subdocument'
),
newest as (
  select c.*
  from (
    select captures.*,
      row_number() over (
        partition by url order by fetch_time desc, part, position, hop, status
      ) as place
    from captures
  ) c
  where c.place = 1
),
-- Targets of redirects that were followed at once: no row of crawl_parse names them.
followed as (
  select redirect_url as url, min(url) as redirect_from
  from crawl_fetch
  where redirect_url is not null
  group by redirect_url
),
signatures as (
  select s.url, s.signature
  from (
    select url, signature,
      row_number() over (partition by url order by fetch_time desc, from_url, ordinal) as place
    from {{said}}
      and kind = 'signature'
  ) s
  where s.place = 1
),
parse_metadata as (
  select m.*
  from (
    select url, {{datum}},
      row_number() over (partition by url order by fetch_time desc, from_url, ordinal) as place
    from {{said}}
      and kind = 'parse_metadata'
  ) m
  where m.place = 1
)
-- Parse metadata is laid over what was captured, unless the fetch failed.
select
  f.url,
  cast(url_hash(f.url) % {{buckets}} as int) as bucket,
  f.host,
  f.domain,
  f.status as fetch_status,
  f.fetch_time as fetched_at,
  f.modified_time,
  f.retries,
  f.fetch_interval,
  f.score,
  f.signature,
  coalesce(s.signature, f.signature) as new_signature,
  coalesce(m.fixed_interval, f.fixed_interval) as fixed_interval,
  coalesce(m.depth, f.depth) as depth,
  coalesce(m.max_depth, f.max_depth) as max_depth,
  coalesce(m.orphan_time, f.orphan_time) as orphan_time,
  coalesce(m.content_type, f.content_type) as content_type,
  coalesce(m.repr_url, f.repr_url) as repr_url,
  map_overlay(f.metadata, m.metadata) as metadata,
  types_overlay(f.metadata_types, m.metadata, m.metadata_types) as metadata_types,
  f.inside,
  w.redirect_from
from newest f
left join followed w on w.url = f.url and f.hop > 0
left join signatures s on s.url = f.url
left join parse_metadata m on m.url = f.url and f.status in ({{scheduled}})
