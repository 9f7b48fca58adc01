select
    url,
    min(host) as host,
    min(domain) as domain,
    count(*) as inlinks,
    max(score) as best_score,
    min(case when kind = 'outlink' then from_url end) as link_from,
    min(case when kind = 'redirect' then from_url end) as redirect_from,
    min(case when kind = 'refresh' then from_url end) as refresh_from{{aggregates}}
  from {{rows}}
  group by url
