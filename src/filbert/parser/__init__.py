"""Parsing a segment: captures in, rows of parse_data, parse_text and crawl_parse out."""
