"""International host names: between Unicode and ASCII.

Guarantee: total: a host that cannot be converted gives None (`to_ascii`) or stays (`to_unicode`).
Source: RFC 3490 (IDNA2003, the default, as Nutch) and UTS 46 without transitional rules
(IDNA2008), by ada.
"""

from __future__ import annotations

import ada_url

__all__ = ["to_ascii", "to_unicode"]

_MAX_LABEL = 63


def to_ascii(host: str, *, idna2008: bool = False) -> str | None:
    """Return the host in ASCII (`xn--…`); None if it has none."""
    if host.isascii():
        return host
    if idna2008:
        return _by_ada(host)
    labels = [_label_2003(label) for label in host.split(".")]
    return None if None in labels else ".".join(label or "" for label in labels)


def to_unicode(host: str, *, idna2008: bool = False) -> str:
    """Return the host in Unicode; labels that cannot be converted stay."""
    del idna2008
    if "xn--" not in host:
        return host
    return ".".join(_unicode_label(label) for label in host.split("."))


def _by_ada(host: str) -> str | None:
    try:
        return ada_url.idna_to_ascii(host).decode() or None
    except ValueError:
        return None


def _label_2003(label: str) -> str | None:
    if label.isascii():
        return label if len(label) <= _MAX_LABEL else None
    try:
        return label.encode("idna").decode("ascii")
    except UnicodeError:
        return None


def _unicode_label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label.encode("ascii").decode("idna")
    except UnicodeError:
        return label
