-- What the hostdb knows of the hosts of a fetch list: their queues, and the robots.txt of their
-- origins (https://host:port).
select {{columns}}
from hostdb
where host in (select host from listed)
  or host in (select domain from listed)
  or split_part(split_part(host, '://', 2), ':', 1) in (select host from listed)
