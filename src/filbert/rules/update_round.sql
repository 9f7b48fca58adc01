-- What a round says of each page that it touched: one row per page, whatever was said how often.
--
-- Views   crawl_fetch, crawl_parse: the rows of all segments of the round; captured: crawl_fetch
--         as it lies in the segments (the URL chains may have changed the other's URLs).
-- Result  the newest capture of the page (fetch_status, fetched_at and the datum that it carried,
--         parse metadata laid over it), the sums over its inlinks, and who named it. A page that
--         was linked but not fetched has the datum of its best link, and no fetch_status.
-- Nutch   CrawlDbReducer.reduce, the first half: collecting.
with
-- crawl_fetch is the commit record of a capture: what a crash left without it does not count.
said as (
  select p.*
  from crawl_parse p
  where p.to_db
    and (p.from_url is null or p.from_url in (select c.url from captured c))
),
captures as (
  select url, host, domain, status, fetch_time, part, position, hop,
    cast(null as string) as inside, {{datum}}
  from crawl_fetch
  union all
  -- A document inside another enters as if it had been fetched.
  select url, host, domain, {{fetch_success}} as status, fetch_time, -1 as part,
    cast(ordinal as bigint) as position, 0 as hop, from_url as inside, {{datum}}
  from said
  where kind = 'subdocument'
),
fetched as (
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
    from said
    where kind = 'signature'
  ) s
  where s.place = 1
),
parse_metadata as (
  select m.*
  from (
    select said.*,
      row_number() over (partition by url order by fetch_time desc, from_url, ordinal) as place
    from said
    where kind = 'parse_metadata'
  ) m
  where m.place = 1
),
links as (
  select *
  from said
  where kind in ('outlink', 'redirect', 'refresh', 'adjust')
),
-- Only the {{max_inlinks}} links of best score count. Few pages have more: those are summed again.
summed as (
  {{summed_links}}
),
popular as (
  select l.*
  from (
    select links.*,
      row_number() over (
        partition by url order by score desc, from_url, ordinal, fetch_time
      ) as place
    from links
    where url in (select url from summed where inlinks > {{max_inlinks}})
  ) l
  where l.place <= {{max_inlinks}}
),
linked as (
  select * from summed where inlinks <= {{max_inlinks}}
  union all
  {{summed_popular}}
),
-- Most links carry a score and nothing else; only for the others does it matter which is best.
best as (
  select b.*
  from (
    select links.*,
      row_number() over (
        partition by url order by score desc, from_url, ordinal, fetch_time
      ) as place
    from links
    where url in (
      select url
      from links
      where modified_time is not null or signature is not null or fixed_interval is not null
        or depth is not null or max_depth is not null or orphan_time is not null
        or content_type is not null or repr_url is not null or metadata is not null
    )
  ) b
  where b.place = 1
),
-- Parse metadata is laid over what was captured, unless the fetch failed.
parsed as (
  select f.*, w.redirect_from, s.signature as parse_signature, m.url is not null as has_metadata,
    m.fixed_interval as m_fixed_interval, m.depth as m_depth, m.max_depth as m_max_depth,
    m.orphan_time as m_orphan_time, m.content_type as m_content_type, m.repr_url as m_repr_url,
    m.metadata as m_metadata, m.metadata_types as m_metadata_types
  from fetched f
  left join followed w on w.url = f.url and f.hop > 0
  left join signatures s on s.url = f.url
  left join parse_metadata m on m.url = f.url and f.status in ({{scheduled}})
)
select
  coalesce(f.url, l.url) as url,
  cast(url_hash(coalesce(f.url, l.url)) % {{buckets}} as int) as bucket,
  coalesce(f.host, l.host) as host,
  coalesce(f.domain, l.domain) as domain,
  f.status as fetch_status,
  f.fetch_time as fetched_at,
  case when f.url is null then b.modified_time else f.modified_time end as modified_time,
  case when f.url is null then 0 else f.retries end as retries,
  case when f.url is null then 0 else f.fetch_interval end as fetch_interval,
  case when f.url is null then l.best_score else f.score end as score,
  case when f.url is null then b.signature else f.signature end as signature,
  coalesce(f.parse_signature, f.signature) as new_signature,
  case when f.url is null then b.fixed_interval
    else coalesce(f.m_fixed_interval, f.fixed_interval) end as fixed_interval,
  case when f.url is null then b.depth else coalesce(f.m_depth, f.depth) end as depth,
  case when f.url is null then b.max_depth
    else coalesce(f.m_max_depth, f.max_depth) end as max_depth,
  case when f.url is null then b.orphan_time
    else coalesce(f.m_orphan_time, f.orphan_time) end as orphan_time,
  case when f.url is null then b.content_type
    else coalesce(f.m_content_type, f.content_type) end as content_type,
  case when f.url is null then b.repr_url else coalesce(f.m_repr_url, f.repr_url) end as repr_url,
  case when f.url is null then b.metadata
    else map_overlay(f.metadata, f.m_metadata) end as metadata,
  case when f.url is null then b.metadata_types
    else types_overlay(f.metadata_types, f.m_metadata, f.m_metadata_types)
    end as metadata_types,
  coalesce(l.inlinks, 0) as inlinks,
  coalesce(l.link_from, f.inside) as link_from,
  coalesce(l.redirect_from, f.redirect_from) as redirect_from,
  l.refresh_from{{aggregate_columns}}
from parsed f
full join linked l on l.url = f.url
left join best b on b.url = l.url
