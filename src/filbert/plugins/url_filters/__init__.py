"""URL filters, one plugin per file."""
