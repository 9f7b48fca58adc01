"""Parse filters, one plugin per file."""
