-- The hostdb after a fetch: what was noted last of each key, and the others as they were.
with fresh as (
  select {{columns}}
  from (
    select noted.*,
      row_number() over (
        partition by host
        order by
          coalesce(last_request_end, robots_time, 0) desc,
          coalesce(backoff_until, 0) desc,
          coalesce(robots_status, 0),
          coalesce(robots_url, ''),
          coalesce(delay_ms, 0) desc,
          failures
      ) as place
    from noted
  ) ranked
  where place = 1
)
select {{columns}} from fresh
union all
select {{columns}} from hostdb where host not in (select host from fresh)
