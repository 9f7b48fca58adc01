-- Pages whose URL has changed meet those that had it before: the one due last stays.
rekeyed as (
  select c.* from {{source}} c where c.url not in (select url from rekeys)
  union all
  select m.* from moved m
),
merged as (
  select {{columns}}
  from (
    select rekeyed.*,
      row_number() over (
        partition by url order by fetch_time desc, seq desc, status, score desc
      ) as place
    from rekeyed
  ) ranked
  where place = 1
),
