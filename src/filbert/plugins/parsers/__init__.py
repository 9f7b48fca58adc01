"""Parsers, one plugin per file."""
