"""The embedded full-text index: what is written, how it is asked, what a hit shows (tantivy)."""
