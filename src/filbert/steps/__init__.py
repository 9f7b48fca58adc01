"""One file per command that writes. A step opens, describes its job, runs it, reports counters."""
