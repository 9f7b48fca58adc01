-- A segment's rows under the URLs that the URL chains make of theirs; rejected ones are left out.
-- Nutch: CrawlDbFilter, which sees the segments, too.
select
  {{columns}}
from (
  select t.*, v.url as judged, v.target, v.host as target_host, v.domain as target_domain
  from {{rows}} t
  left join verdicts v on v.url = t.url
) j
where judged is null or target is not null
