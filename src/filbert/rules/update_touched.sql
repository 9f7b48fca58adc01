-- New pages and fetched ones: what they were, what they are, and who named them first. (A known
-- page that was only linked keeps its status.)
-- The same rule as update.sql; joined so that the others are not looked at.
select
  url,
  event,
  old_status,
  status,
  case
    when link_from is not null then 'link'
    when redirect_from is not null then 'redirect'
    when refresh_from is not null then 'refresh'
    else 'link'
  end as origin,
  coalesce(link_from, redirect_from, refresh_from) as origin_url,
  {{now}} as first_seen
from (
{{update}}
) updated
where event <> {{linked}} or old_status is null
