-- Where pages first came from: one row for each seed that has none yet.
select url, 'seed' as origin, origin as origin_url, {{now}} as first_seen
from (
    select url, origin, row_number() over (partition by url order by ordinal desc) as rank
    from seeds
) ranked
where rank = 1 and url not in (select url from origins)
