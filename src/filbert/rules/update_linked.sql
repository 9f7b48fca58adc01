-- What the links of a round say: one row per page that was linked, with sums over its inlinks.
--
-- Views   crawl_parse: the rows of all segments of the round; captured: update_captured.sql.
-- Nutch   CrawlDbReducer.reduce: collecting inlinks.
--
-- Only numbers are aggregated: an engine can put those aside when memory is short.
{{crowded}}select
  url,
  cast(url_hash(url) % {{buckets}} as int) as bucket,
  {{place}},
  count(*) as inlinks,
  max(score) as best_score,
  min(case when kind = 'outlink' then from_number end) as link_number,
  min(case when kind = 'redirect' then from_number end) as redirect_number,
  min(case when kind = 'refresh' then from_number end) as refresh_number{{aggregates}}
from {{counted}}
group by {{keys}}
