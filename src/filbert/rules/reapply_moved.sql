-- Pages whose URL the normalisers changed, under their new URL, bucket and place.
select
    verdicts.target as url, cast(verdicts.target_hash % {{buckets}} as int) as bucket,
    verdicts.host as host, verdicts.domain as domain, {{other_columns}},
    page.url as came_from
from crawldb page
join verdicts on verdicts.url = page.url
where verdicts.target is not null
