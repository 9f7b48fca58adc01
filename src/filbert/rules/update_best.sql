-- The best link of each page whose links carry more than a score.
--
-- Views   crawl_parse: the rows of all segments of the round; captured: update_captured.sql.
-- Most links carry a score and nothing else: then it does not matter which is best.
select b.url, cast(url_hash(b.url) % {{buckets}} as int) as bucket, {{b_datum}}
from (
  select url, {{datum}},
    row_number() over (
      partition by url order by score desc, from_url, ordinal, fetch_time
    ) as place
  from {{links}}
    and url in (
      select url
      from {{links}}
        and {{laden}}
    )
) b
where b.place = 1
