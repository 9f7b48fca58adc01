-- What an injection would do to one bucket: nothing is written when nothing would change.
select
    count(seed.url) as unique_seeds,
    count(case when seed.url is not null and old.url is null then 1 end) as new_pages,
    count(case when seed.url is not null and old.url is not null then 1 end) as merged,
    count(case when {{changed}} then 1 end) as changed
from (
    select url, fetch_interval, score, fixed_interval, max_depth, metadata
    from crawldb where {{kept}}
) old
full join ({{last_seeds}}) seed on seed.url = old.url
