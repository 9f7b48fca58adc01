"""filbert: a batch web crawler and search engine with Apache Nutch's model.

This package imports nothing: each command loads only the rooms that it needs, so that
`filbert --help` is quick. The map of the rooms is in `docs/decisions/0001-five-floors.md`.
"""

__version__ = "0.1.0"
