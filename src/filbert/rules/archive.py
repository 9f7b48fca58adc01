"""How a URL finds its capture in an archive: by which key.

Guarantee: a pure function. Two spellings that every browser takes for one URL have one key; the
scheme counts, the fragment does not.
Source: WARC 1.1 (ISO 28500:2017), `WARC-Target-URI`.
"""

from __future__ import annotations

import ada_url

__all__ = ["archive_key"]


def archive_key(url: str) -> str:
    """Return the key of a URL; what no URL parser takes is its own key."""
    plain = url.strip().strip("<>").partition("#")[0]
    try:
        return str(ada_url.URL(plain).href)
    except ValueError:
        return plain
