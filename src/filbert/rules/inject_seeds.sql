-- The last line of each URL's seeds wins; settings fill in what the line does not say, and then
-- the scoring plugins have their word.
select
    url, bucket, host, domain, {{score}} as score, fetch_interval, fixed_interval, depth, max_depth,
    metadata
from (
    select
        url, bucket, host, domain, cast(coalesce(score, {{default_score}}) as float) as score_in,
        coalesce(fetch_interval, {{default_interval}}) as fetch_interval,
        fixed_interval, depth, max_depth, metadata,
        row_number() over (partition by url order by ordinal desc) as rank
    from seeds
) ranked
where rank = 1
