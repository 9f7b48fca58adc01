-- The links of one segment that the linkdb keeps (Nutch: LinkDb's mapper). `page` is the linking page
-- under the key that it has in the segment. Views: crawl_parse, verdicts.
select
    url, from_url, substr(coalesce(anchor, ''), 1, {{max_anchor_length}}) as anchor,
    cast(url_hash(url) % {{buckets}} as int) as bucket, metadata, page, {{segment}} as segment,
    ordinal
from (
    select
        coalesce(target.target, link.url) as url,
        coalesce(source.target, link.from_url) as from_url,
        link.from_url as page, link.anchor as anchor, link.metadata as metadata,
        link.ordinal as ordinal, link.host as host, {{from_host}} as from_host
    from crawl_parse link
    left join verdicts target on target.url = link.url
    left join verdicts source on source.url = link.from_url
    where link.to_linkdb and link.from_url is not null
        and (target.url is null or target.target is not null)
        and (source.url is null or source.target is not null)
) judged
where {{wanted}}
