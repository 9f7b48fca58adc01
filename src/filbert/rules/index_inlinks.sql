-- The links to the pages that are added to the index.
-- Views: documents (what index.sql gave), linkdb.
select
  d.chunk,
  l.url,
  l.from_url,
  l.anchor
from linkdb l
join documents d on d.url = l.url
where d.verdict = 'add' and l.anchor <> ''
