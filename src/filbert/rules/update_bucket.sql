-- The rows of a bucket after a round: pages that it left alone as they are, the others by update.sql.
--
-- Views   as in update.sql.
-- The rule would leave them alone, too; but to ask it of every page costs more than to read them.
select {{columns}}
from crawldb o
where {{not_purged}}
  and not exists (select 1 from linked l where l.url = o.url)
  and not exists (select 1 from fetched f where f.url = o.url)
union all
select {{columns}}
from (
{{update}}
) u
