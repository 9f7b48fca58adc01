select
    url, bucket, host, domain, signature, score, fetch_time,
    length(percent_decode(url)) as url_length,
    substr(url, 1, 8) = 'https://' as is_https,
    substr(url, 1, 7) = 'http://' as is_http,
    case when substr(url, 1, 8) = 'https://' then substr(url, 9) else substr(url, 8) end as bare_url,
    true as is_left
from crawldb
where status in {{considered}} and signature is not null and signature in (
    select signature from crawldb
    where status in {{considered}} and signature is not null
    group by signature having count(*) > 1
)
