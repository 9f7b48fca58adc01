"""Plugins for filbert, as a stranger would write them."""
