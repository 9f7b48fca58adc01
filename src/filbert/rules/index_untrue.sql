-- Pages that the crawldb says may not be in the index, and why; not those just judged.
-- Views: crawldb, documents. Source: Nutch CleaningJob, IndexerMapReduce (deleteGone).
select
  c.url,
  case c.status
{{reasons}}
  end as reason
from crawldb c
left join documents d on d.url = c.url
where c.status in ({{statuses}}) and d.url is null
