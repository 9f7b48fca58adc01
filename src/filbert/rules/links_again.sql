-- The linkdb's own links, as if they came from a segment before all others: for when the URL chains
-- have changed and every link passes them again (Nutch: LinkDbFilter). Views: linkdb, verdicts.
select
    coalesce(target.target, link.url) as url,
    coalesce(source.target, link.from_url) as from_url, link.anchor as anchor,
    cast(url_hash(coalesce(target.target, link.url)) % {{buckets}} as int) as bucket,
    link.metadata as metadata, link.from_url as page, 0 as segment, 0 as ordinal
from linkdb link
left join verdicts target on target.url = link.url
left join verdicts source on source.url = link.from_url
where (target.url is null or target.target is not null)
    and (source.url is null or source.target is not null)
