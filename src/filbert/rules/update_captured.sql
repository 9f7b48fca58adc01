-- The pages that were captured, numbered by URL.
--
-- View    crawl_fetch as it lies in the segments (the URL chains may change its URLs later).
-- crawl_fetch is the commit record of a capture: rows of crawl_parse that a crash left without it
-- do not count. Sums over links carry a page's number, not its long URL.
select url, row_number() over (order by url) as number
from (select distinct url from crawl_fetch) pages
