-- The crawldb after a round: one row per page, old or new.
--
-- Views   crawldb, fetched, linked, best (update_fetched.sql and so on): the rows of a bucket.
-- Result  crawldb rows, beside them old_status (null: a new page), event and who named the page.
-- Nutch   CrawlDbReducer.reduce, the second half: deciding.
--
-- event   the fetch status, or {{linked}}: linked but not fetched, or 0: the round left it alone.
-- detail  0, 1: the content changed, 2: it did not, 3: failed too often.
-- act     kept, first, scheduled, retried or gone: which times and intervals the page gets.
with
known as (
  select * from crawldb where {{not_purged}}
),
-- What the round says of each page that it touched. A page that was linked but not fetched has
-- the datum of its best link, and no fetch_status.
round as (
  select
    coalesce(f.url, l.url) as url,
    coalesce(f.bucket, l.bucket) as bucket,
    coalesce(f.host, l.host) as host,
    coalesce(f.domain, l.domain) as domain,
    f.fetch_status,
    f.fetched_at,
    case when f.url is null then b.modified_time else f.modified_time end as modified_time,
    f.retries,
    f.fetch_interval,
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
    l.link_number,
    l.redirect_number,
    l.refresh_number,
    f.inside,
    f.redirect_from{{linked_aggregates}}
  from linked l
  full join fetched f on f.url = l.url
  left join best b on b.url = l.url
),
joined as (
  select
    coalesce(o.url, r.url) as url,
    coalesce(o.bucket, r.bucket) as bucket,
    coalesce(o.host, r.host) as page_host,
    coalesce(o.domain, r.domain) as domain,
    o.status as old_status,
    o.fetch_time as old_fetch_time,
    o.modified_time as old_modified_time,
    o.retries as old_retries,
    o.fetch_interval as known_interval,
    o.score as old_score,
    o.signature as old_signature,
    o.fixed_interval as old_fixed_interval,
    o.depth as old_depth,
    o.max_depth as old_max_depth,
    o.orphan_time as old_orphan_time,
    o.content_type as old_content_type,
    o.repr_url as old_repr_url,
    o.metadata as old_metadata,
    o.metadata_types as old_metadata_types,
    o.generate_time as old_generate_time,
    o.seq as old_seq,
    case
      when r.fetch_status is not null then r.fetch_status
      when r.url is not null then {{linked}}
      else 0
    end as event,
    r.fetched_at,
    r.modified_time as fetched_modified,
    r.retries as fetched_retries,
    r.fetch_interval as old_interval,
    r.score as fetched_score,
    r.signature as fetched_signature,
    r.new_signature,
    r.fixed_interval as new_fixed_interval,
    r.depth as new_depth,
    r.max_depth as new_max_depth,
    r.orphan_time as new_orphan_time,
    r.content_type as new_content_type,
    r.repr_url as new_repr_url,
    r.metadata as new_metadata,
    r.metadata_types as new_metadata_types,
    r.link_number,
    r.redirect_number,
    r.refresh_number,
    r.inside,
    r.redirect_from{{aggregates}}
  from known o
  {{join}} join round r on o.url = r.url
  where {{admitted}}
),
-- What the round brings is laid over what was known. (Of a page left alone nothing changes.)
prepared as (
  select
    joined.*,
    coalesce(old_fetch_time, 0) as prev_fetch_time,
    coalesce(old_modified_time, 0) as prev_modified_time,
    coalesce(new_fixed_interval, old_fixed_interval) as fixed_interval,
    coalesce(new_content_type, old_content_type) as page_content_type,
    case
      when event = {{fetch_notmodified}} then 2
      when event = {{fetch_success}} and old_signature is not null and new_signature is not null
        then case when old_signature = new_signature then 2 else 1 end
      else 0
    end as modified_state
  from joined
),
{{schedule}},
detailed as (
  select
    scheduled.*,
    case
      when event = {{fetch_retry}} and fetched_retries + 1 >= {{retry_max}} then 3
      else modified_state
    end as detail
  from scheduled
),
acting as (
  select
    detailed.*,
    {{act}} as act,
    -- A page whose interval is beyond the greatest is fetched again, come what may.
    coalesce(event in ({{scheduled}}) and next_interval > {{max_interval}}, false) as forced
  from detailed
),
{{scoring}}
select
  url,
  bucket,
  page_host as host,
  domain,
  cast(case when forced then {{db_unfetched}} else {{status}} end as smallint) as status,
  case act
    when 'kept' then old_fetch_time
    when 'first' then {{now}}
    when 'scheduled' then next_fetch_time
    when 'retried' then fetched_at + {{day_ms}}
    else fetched_at + cast({{gone_interval}} as bigint) * 1000
  end as fetch_time,
  case
    when act = 'kept' then old_modified_time
    when forced then null
    when act = 'scheduled' and modified_state = 2 then old_modified_time
    when act = 'scheduled' then nullif(next_modified_time, 0)
    when coalesce(fetched_modified, 0) = 0 and old_modified_time > 0 then old_modified_time
    else nullif(fetched_modified, 0)
  end as modified_time,
  cast(case
    when act = 'kept' then old_retries
    when act in ('first', 'scheduled') then 0
    when event = {{fetch_retry}} then fetched_retries + 1
    else fetched_retries
  end as smallint) as retries,
  case
    when act = 'kept' then known_interval
    when act = 'first' then {{default_interval}}
    when forced then {{forced_interval}}
    when act = 'scheduled' then next_interval
    when act = 'gone' then {{gone_interval}}
    else old_interval
  end as fetch_interval,
  cast(case when event = 0 then old_score else {{score}} end as float) as score,
  case
    when act = 'kept' then old_signature
    when forced then null
    when act = 'scheduled' and modified_state <> 2 then new_signature
    when old_status is null then fetched_signature
    else old_signature
  end as signature,
  case when act = 'kept' then old_fixed_interval else fixed_interval end as fixed_interval,
  case when act = 'kept' then old_depth else coalesce(new_depth, old_depth) end as depth,
  case when act = 'kept' then old_max_depth
    else coalesce(new_max_depth, old_max_depth) end as max_depth,
  case when act = 'kept' then old_orphan_time
    else coalesce(new_orphan_time, old_orphan_time) end as orphan_time,
  case when act = 'kept' then old_content_type else page_content_type end as content_type,
  case when act = 'kept' then old_repr_url else coalesce(new_repr_url, old_repr_url) end as repr_url,
  case when act = 'kept' then old_metadata
    else map_overlay(old_metadata, new_metadata) end as metadata,
  case when act = 'kept' then old_metadata_types
    else types_overlay(old_metadata_types, new_metadata, new_metadata_types)
    end as metadata_types,
  case when event = 0 then old_generate_time end as generate_time,
  case when event = 0 then old_seq else {{seq}} end as seq,
  old_status,
  event,
  link_number,
  redirect_number,
  refresh_number,
  inside,
  redirect_from
from scored
