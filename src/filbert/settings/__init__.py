"""Typed, frozen, strict settings: one section per stage, Nutch's property names beside ours.

Guarantee: a `Settings` is complete and checked. `load_settings` says what holds for a crawl
folder, and where each value came from; `fingerprint` tells whether some of them have changed.
"""

from filbert.settings.fingerprint import fingerprint
from filbert.settings.load import Loaded, Source, load_settings
from filbert.settings.root import Settings

__all__ = ["Loaded", "Settings", "Source", "fingerprint", "load_settings"]
