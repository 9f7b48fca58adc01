-- Pages of equal content that are to be marked as duplicates (Nutch: DeduplicationJob). The criteria
-- sieve the group one after the other: who is left at the end stays, several if nothing tells them
-- apart; the others are duplicates.
select url, bucket
from ({{sieved}}) sieved
where not is_left
