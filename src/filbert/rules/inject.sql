-- Seeds into one bucket of the crawldb (Nutch: Injector's reducer).
-- Views: crawldb (the bucket's rows), seeds (its seeds, one row per line that was accepted).
-- A seed is new, or replaces the page (overwrite), or adds to it (update), or changes nothing.
select
    coalesce(old_url, seed_url) as url,
    case when is_fresh then seed_bucket else bucket end as bucket,
    case when is_fresh then seed_host else host end as host,
    case when is_fresh then seed_domain else domain end as domain,
    cast(case when is_fresh then {{unfetched}} else status end as smallint) as status,
    case when is_fresh then {{now}} else fetch_time end as fetch_time,
    case when is_fresh then null else modified_time end as modified_time,
    cast(case when is_fresh then 0 else retries end as smallint) as retries,
    case
        when is_fresh then seed_interval
        when is_updated and seed_interval <> {{default_interval}} then seed_interval
        else fetch_interval
    end as fetch_interval,
    case
        when is_fresh then seed_score
        when is_updated and seed_score <> {{default_score}} then seed_score
        else score
    end as score,
    case when is_fresh then null else signature end as signature,
    case
        when is_fresh then seed_fixed_interval
        when is_updated then coalesce(seed_fixed_interval, fixed_interval)
        else fixed_interval
    end as fixed_interval,
    case when is_fresh then seed_depth else depth end as depth,
    case
        when is_fresh then seed_max_depth
        when is_updated then coalesce(seed_max_depth, max_depth)
        else max_depth
    end as max_depth,
    case when is_fresh then null else orphan_time end as orphan_time,
    case when is_fresh then null else content_type end as content_type,
    case when is_fresh then null else repr_url end as repr_url,
    case
        when is_fresh then seed_metadata
        when is_updated then map_overlay(metadata, seed_metadata)
        else metadata
    end as metadata,
    case when is_fresh then null else metadata_types end as metadata_types,
    case when is_fresh then null else generate_time end as generate_time,
    case when is_fresh or is_updated then {{seq}} else seq end as seq
from (
    select
        old.url as old_url, old.bucket, old.host, old.domain, old.status, old.fetch_time,
        old.modified_time, old.retries, old.fetch_interval, old.score, old.signature,
        old.fixed_interval, old.depth, old.max_depth, old.orphan_time, old.content_type,
        old.repr_url, old.metadata, old.metadata_types, old.generate_time, old.seq,
        seed.url as seed_url, seed.bucket as seed_bucket, seed.host as seed_host,
        seed.domain as seed_domain, seed.score as seed_score,
        seed.fetch_interval as seed_interval, seed.fixed_interval as seed_fixed_interval,
        seed.depth as seed_depth, seed.max_depth as seed_max_depth,
        seed.metadata as seed_metadata,
        seed.url is not null and (old.url is null or {{overwrite}}) as is_fresh,
        seed.url is not null and old.url is not null and not {{overwrite}} and {{update}}
            as is_updated
    from (select {{page_columns}} from crawldb where {{kept}}) old
    full join ({{last_seeds}}) seed on seed.url = old.url
) joined
