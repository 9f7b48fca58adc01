-- What becomes of each page of the segments in the index: add, delete or skip, and why.
-- Views: crawldb, and for segment n: fetch_n (crawl_fetch), rows_n (crawl_parse),
-- data_n (parse_data), text_n (parse_text).
-- Source: Nutch IndexerMapReduce; the newest record that says something about a page decides.
with
fetches as (
{{fetches}}
),

ranked as (
  select
    f.*,
    row_number() over (
      partition by f.url
      order by f.segment desc, f.fetch_time desc, f.hop desc, f.part, f.position
    ) as nth
  from fetches f
  where f.status in ({{deciding}})
),

parses as (
{{parses}}
),

known as (
  select
    r.segment,
    r.url,
    r.status as fetch_status,
    c.status as db_status,
    p.major,
    coalesce(p.robots_noindex, false) as noindex,
    r.fetch_time,
    coalesce(c.modified_time, r.modified_time) as modified_time,
    coalesce(c.score, r.score) as score,
    coalesce(p.signature, c.signature) as signature,
    coalesce(c.repr_url, r.repr_url) as repr_url,
    coalesce(r.content_type, c.content_type) as content_type,
    coalesce(c.metadata, r.metadata) as metadata,
    r.host,
    p.title,
    p.language,
    p.charset,
    coalesce(p.robots_noarchive, false) as noarchive,
    p.content_metadata,
    p.parse_metadata,
    p.text
  from ranked r
  left join crawldb c on c.url = r.url
  left join parses p on p.url = r.url and p.segment = r.segment
  where r.nth = 1
),

judged as (
  select
    k.*,
    case
{{decisions}}
      else 'add'
    end as verdict
  from known k
)

select
  cast(url_hash(url) % {{chunks}} as int) as chunk,
  url,
  segment,
  verdict,
  fetch_time,
  modified_time,
  score,
  signature,
  repr_url,
  content_type,
  metadata,
  host,
  title,
  language,
  charset,
  noarchive,
  content_metadata,
  parse_metadata,
  text
from judged
