"""Scoring plugins: what a page is worth. One file each."""
