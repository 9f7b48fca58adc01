-- One bucket of the crawldb after the URL chains were applied to it again: rejected pages are gone,
-- changed URLs have moved in from their old buckets; of pages that became one, that of the latest
-- fetch time stays, as in updatedb (Nutch: CrawlDbFilter, CrawlDbReducer).
-- Views: crawldb (the bucket's rows), verdicts, moved (changed pages of all buckets).
select {{page_columns}}
from (
    select
        {{page_columns}},
        row_number() over (partition by url order by fetch_time desc, came_from) as rank
    from (
        select {{page_columns}}, url as came_from from crawldb
        where url not in (select url from verdicts)
        union all
        select {{page_columns}}, came_from from moved where bucket = {{bucket}}
    ) together
) ranked
where rank = 1
