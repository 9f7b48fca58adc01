-- Only the {{max_inlinks}} links of best score count, where a page has more.
with crowded as (
  select url
  from {{links}}
  group by url
  having count(*) > {{max_inlinks}}
),
counted as (
  select url, host, domain, from_number, kind, {{datum}}
  from {{links}}
    and url not in (select url from crowded)
  union all
  select url, host, domain, from_number, kind, {{datum}}
  from (
    select url, host, domain, from_number, kind, {{datum}},
      row_number() over (
        partition by url order by score desc, from_url, ordinal, fetch_time
      ) as place
    from {{links}}
      and url in (select url from crowded)
  ) l
  where l.place <= {{max_inlinks}}
)
