"""URL normalisers, one plugin per file."""
