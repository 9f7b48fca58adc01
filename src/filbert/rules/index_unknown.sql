-- Pages in the index that the crawldb does not know. Views: crawldb, indexed.
select i.url, 'unknown' as reason
from indexed i
left join crawldb c on c.url = i.url
where c.url is null
