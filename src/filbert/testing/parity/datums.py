"""Nutch's CrawlDatum as the parity cases write it, to our columns and back.

Guarantee: nothing is lost on the way: metadata that is not text keeps its Writable class in
`metadata_types`; a modified time of 0 is null.
Source: golden/README: reducer-cases.jsonl.gz.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Datum", "Row", "columns_of", "metadata_of"]

Datum = dict[str, Any]
"""A CrawlDatum as JSON."""

Row = dict[str, Any]
"""A row of one of our tables."""

_GENERATE_TIME = "_ngt_"
_TYPED = {
    ("fixedInterval", "FloatWritable"): "fixed_interval",
    ("Content-Type", "Text"): "content_type",
    ("_repr_", "Text"): "repr_url",
}


def columns_of(datum: Datum) -> Row:
    """Return the columns that travel, and generate_time."""
    row: Row = {
        "modified_time": datum["modifiedTime"] or None,
        "retries": datum["retries"],
        "fetch_interval": datum["interval"],
        "score": datum["score"],
        "signature": None if datum["signature"] is None else bytes.fromhex(datum["signature"]),
        "generate_time": None,
    }
    metadata: dict[str, str] = {}
    types: dict[str, str] = {}
    for key, value in datum["metadata"].items():
        kind = value["type"]
        if key == _GENERATE_TIME:
            row["generate_time"] = value["value"]
        elif (key, kind) in _TYPED:
            row[_TYPED[key, kind]] = value["value"]
        else:
            metadata[key] = value["value"] if kind == "Text" else _text(value)
            if kind != "Text":
                types[key] = kind
    return row | {"metadata": metadata or None, "metadata_types": types or None}


def metadata_of(row: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return a row's metadata as Nutch has it: key to class and value."""
    types = dict(row["metadata_types"] or ())
    found = {
        key: (types.get(key, "Text"), value) for key, value in dict(row["metadata"] or ()).items()
    }
    for (key, kind), column in _TYPED.items():
        if row[column] is not None:
            found[key] = (kind, row[column])
    if row["generate_time"] is not None:
        found[_GENERATE_TIME] = ("LongWritable", row["generate_time"])
    return found


def expected_metadata(datum: Datum) -> dict[str, tuple[str, Any]]:
    """Return a datum's metadata in the form of `metadata_of`."""
    return metadata_of(_ALL_NULL | columns_of(datum))


_ALL_NULL: Row = dict.fromkeys(_TYPED.values())


def _text(value: Mapping[str, Any]) -> str:
    rest = {name: one for name, one in value.items() if name != "type"}
    return json.dumps(rest["value"] if set(rest) == {"value"} else rest, sort_keys=True)
