"""Fetch schedules: when a page is due again. One file each."""
