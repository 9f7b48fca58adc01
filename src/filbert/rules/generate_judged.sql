-- Every page of the crawldb with its sort value, and why it is not to be chosen (null: it may be).
-- The order of the reasons is that of Nutch's mapper; the first that holds is counted.
select
    {{columns}}, sort_value,
    case
        when fetch_time > {{now}} then 'schedule_rejected'
        when generate_time + {{gen_delay}} > {{now}} then 'wait_for_update'
        when not ({{expr}}) then 'expr_rejected'
        when {{wrong_status}} then 'status_rejected'
        when {{low_score}} then 'score_too_low'
        when {{long_interval}} then 'interval_rejected'
    end as rejected
from (
    select {{page_columns}}, {{sort_value}} as sort_value
    from ({{due_pages}}) due_page
) sorted_page
