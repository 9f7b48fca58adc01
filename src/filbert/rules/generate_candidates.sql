-- The candidates, less those that the URL filters reject; a normalised URL counts by its own host.
select
    candidate.url as url,
    coalesce(verdict.host, candidate.host) as host,
    coalesce(verdict.domain, candidate.domain) as domain,
    coalesce(verdict.{{count_key}}, candidate.{{count_key}}) as count_key,
    candidate.sort_value as sort_value
from candidates candidate
left join verdicts verdict on verdict.url = candidate.url
where verdict.url is null or verdict.target is not null
