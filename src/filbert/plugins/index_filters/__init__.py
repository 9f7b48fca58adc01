"""Index filters: what of a page becomes a field of its document. One plugin, one file."""
