-- One bucket of the crawldb with its duplicates marked.
select
    {{other_columns}},
    cast(case when duplicate.url is null then page.status else {{duplicate}} end as smallint)
        as status,
    case when duplicate.url is null then page.seq else {{seq}} end as seq
from crawldb page
left join duplicates duplicate on duplicate.url = page.url
