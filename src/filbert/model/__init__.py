"""The nouns that every floor shares: statuses, table schemas, records of page work, the clock."""
