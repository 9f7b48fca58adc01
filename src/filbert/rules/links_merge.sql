-- One bucket of the linkdb with the links of new segments (Nutch: LinkDbMerger). What a page linked to
-- before its newest parse is gone; a link stands once; of too many inlinks, the first stay.
-- Views: linkdb (the bucket), links, newest.
select url, from_url, anchor, bucket, metadata
from (
    select
        url, from_url, anchor, bucket, metadata,
        row_number() over (partition by url order by from_url, anchor) as place
    from (
        select
            url, from_url, anchor, bucket, metadata,
            row_number() over (
                partition by url, from_url, anchor order by segment desc, ordinal
            ) as copy
        from (
            select old.url, old.from_url, old.anchor, old.bucket, old.metadata,
                0 as segment, 0 as ordinal
            from linkdb old
            where {{kept}}
            union all
            select link.url, link.from_url, link.anchor, link.bucket, link.metadata,
                link.segment, link.ordinal
            from links link
            left join newest on newest.url = link.page
            where link.bucket = {{bucket}}
                and (newest.url is null or newest.segment = link.segment)
        ) together
    ) counted
    where copy = 1
) placed
where place <= {{max_inlinks}}
