-- The fetch list of one segment: whole rows; in a part, the order is that of a hash of the URL, so
-- that hosts are mixed (Nutch: Generator.HashComparator).
select
    {{page_columns}}, {{generated}} as generate_time, part,
    row_number() over (partition by part order by url_hash(url), url) - 1 as position
from (
    select {{due_columns}}, {{part}} as part
    from ({{due_pages}}) due_page
    join chosen on chosen.url = due_page.url
    {{parts}}
    where chosen.segment = {{segment}}
) listed
