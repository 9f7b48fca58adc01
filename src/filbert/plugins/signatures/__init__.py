"""Content signatures, one plugin per file."""
