-- One bucket of the crawldb with the chosen pages marked (`generate.update_crawldb`).
select
    {{other_columns}},
    case when chosen.url is null then page.generate_time else {{generated}} end as generate_time,
    case when chosen.url is null then page.seq else {{seq}} end as seq
from crawldb page
left join (select url from chosen where segment > 0) chosen on chosen.url = page.url
