-- Which segment has the newest parse of each page; only segments that are being absorbed are `fresh`.
select url, max(segment) as segment from parsed group by url
