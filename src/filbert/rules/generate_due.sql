-- The crawldb as the schedule sees it: a page that would be due only after the greatest interval is
-- due now, and its interval comes down (Nutch: AbstractFetchSchedule.shouldFetch).
select
    {{other_columns}},
    case when fetch_time - {{now}} > {{max_interval_ms}} then {{now}} else fetch_time end
        as fetch_time,
    case
        when fetch_time - {{now}} > {{max_interval_ms}} then {{clamped_interval}}
        else fetch_interval
    end as fetch_interval
from crawldb
