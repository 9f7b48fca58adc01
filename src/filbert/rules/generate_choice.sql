-- Candidates into segments: at most max_count of a key, then the best top_n for each segment.
-- Segment 0 is what the cap left out before the segments were full (Nutch counts those).
-- A total order, (sort_value desc, url), makes the choice the same on every engine and run.
select url, host, domain, count_key, segment
from (
    select
        url, host, domain, count_key, is_kept, kept_place,
        case when is_kept then {{segment}} else 0 end as segment
    from (
        select
            url, host, domain, count_key, sort_value, count_rank,
            {{is_kept}} as is_kept, {{kept_place}} as kept_place
        from (
            select url, host, domain, count_key, sort_value, {{count_rank}} as count_rank
            from ({{candidates}}) candidate
        ) in_key
    ) placed
) assigned
where {{fits}}
