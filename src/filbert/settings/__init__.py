"""Typed, frozen, strict settings: one section per stage, Nutch's property names beside ours.

Guarantee: importing this package gives `Settings`; `load_settings` says what holds for a crawl
folder, and where each value came from.
"""

from filbert.settings.root import Settings

__all__ = ["Settings"]
