-- New pages and fetched ones: what they were, what they are, and who named them first. (A known
-- page that was only linked keeps its status.)
-- The same rule as update.sql, joined so that pages left alone are not looked at; beside its views
-- captured: update_captured.sql.
select
  u.url,
  u.event,
  u.old_status,
  u.status,
  case
    when coalesce(link.url, u.inside) is not null then 'link'
    when coalesce(redirect.url, u.redirect_from) is not null then 'redirect'
    when refresh.url is not null then 'refresh'
    else 'link'
  end as origin,
  coalesce(link.url, u.inside, redirect.url, u.redirect_from, refresh.url) as origin_url,
  {{now}} as first_seen
from (
{{update}}
) u
left join captured link on link.number = u.link_number
left join captured redirect on redirect.number = u.redirect_number
left join captured refresh on refresh.number = u.refresh_number
where u.event <> {{linked}} or u.old_status is null
