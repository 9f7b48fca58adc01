-- Pages of segments that a rollback took out, which the crawldb does not have as fetched; not those
-- whose older document was just written anew. Views: undone (crawl_fetch), crawldb, documents.
select distinct u.url, 'undone' as reason
from undone u
left join crawldb c on c.url = u.url
left join documents d on d.url = u.url
where d.url is null and (c.url is null or c.status not in ({{fetched}}))
