-- What a round says of each page that it touched: one row per page, whatever was said how often.
--
-- Views   crawl_parse: the rows of all segments of the round; captured: crawl_fetch as it lies in
--         the segments; fetched: what update_fetched.sql gave.
-- Result  the capture of the page (fetch_status, fetched_at, the datum that it carried), the sums
--         over its inlinks, and who named it. A page that was linked but not fetched has the datum
--         of its best link, and no fetch_status.
-- Nutch   CrawlDbReducer.reduce: collecting inlinks.
with
{{crowded}}linked as (
  select
    url,
    any_value(host) as host,
    any_value(domain) as domain,
    count(*) as inlinks,
    max(score) as best_score,
    min(case when kind = 'outlink' then from_url end) as link_from,
    min(case when kind = 'redirect' then from_url end) as redirect_from,
    min(case when kind = 'refresh' then from_url end) as refresh_from{{aggregates}}
  from {{counted}}
  group by url
),
-- Most links carry a score and nothing else; only for the others does it matter which is best.
best as (
  select b.*
  from (
    select url, {{datum}},
      row_number() over (
        partition by url order by score desc, from_url, ordinal, fetch_time
      ) as place
    from {{links}}
      and url in (
        select url
        from {{links}}
          and (modified_time is not null or signature is not null or fixed_interval is not null
            or depth is not null or max_depth is not null or orphan_time is not null
            or content_type is not null or repr_url is not null or metadata is not null)
      )
  ) b
  where b.place = 1
)
select
  coalesce(f.url, l.url) as url,
  cast(url_hash(coalesce(f.url, l.url)) % {{buckets}} as int) as bucket,
  coalesce(f.host, l.host) as host,
  coalesce(f.domain, l.domain) as domain,
  f.fetch_status,
  f.fetched_at,
  case when f.url is null then b.modified_time else f.modified_time end as modified_time,
  case when f.url is null then 0 else f.retries end as retries,
  case when f.url is null then 0 else f.fetch_interval end as fetch_interval,
  case when f.url is null then l.best_score else f.score end as score,
  case when f.url is null then b.signature else f.signature end as signature,
  f.new_signature,
  case when f.url is null then b.fixed_interval else f.fixed_interval end as fixed_interval,
  case when f.url is null then b.depth else f.depth end as depth,
  case when f.url is null then b.max_depth else f.max_depth end as max_depth,
  case when f.url is null then b.orphan_time else f.orphan_time end as orphan_time,
  case when f.url is null then b.content_type else f.content_type end as content_type,
  case when f.url is null then b.repr_url else f.repr_url end as repr_url,
  case when f.url is null then b.metadata else f.metadata end as metadata,
  case when f.url is null then b.metadata_types else f.metadata_types end as metadata_types,
  coalesce(l.inlinks, 0) as inlinks,
  coalesce(l.link_from, f.link_from) as link_from,
  coalesce(l.redirect_from, f.redirect_from) as redirect_from,
  l.refresh_from{{aggregate_columns}}
from linked l
full join fetched f on f.url = l.url
left join best b on b.url = l.url
