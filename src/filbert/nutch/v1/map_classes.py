"""The numbers that stand for classes in a `MapWritable`.

Source: Hadoop `io.AbstractMapWritable`: built-in classes are negative, others count from 1.
"""

from __future__ import annotations

from filbert.errors import UserError
from filbert.nutch.data import DataOutput
from filbert.nutch.v1 import names
from filbert.nutch.writable import Writable

__all__ = ["ID_OF_NAME", "NAME_OF_ID", "Kind", "numbering"]

_MOST_CLASSES = 127
_HADOOP = "org.apache.hadoop.io."
_BUILT_IN: dict[int, str] = {
    -127: "ArrayWritable",
    -126: "BooleanWritable",
    -125: "BytesWritable",
    -124: "FloatWritable",
    -123: "IntWritable",
    -122: "LongWritable",
    -121: "MapWritable",
    -120: "MD5Hash",
    -119: "NullWritable",
    -118: "ObjectWritable",
    -117: "SortedMapWritable",
    -116: "Text",
    -115: "TwoDArrayWritable",
    -114: "VIntWritable",
    -113: "VLongWritable",
}
NAME_OF_ID = {number: _HADOOP + name for number, name in _BUILT_IN.items()}
ID_OF_NAME = {name: number for number, name in NAME_OF_ID.items()}

Kind = type[Writable] | str
_MOST_NUMBERINGS = 1024
_NUMBERINGS: dict[tuple[tuple[str, ...], tuple[Kind, ...]], tuple[dict[Kind, int], bytes]] = {}


def numbering(classes: tuple[str, ...], kinds: tuple[Kind, ...]) -> tuple[dict[Kind, int], bytes]:
    """Return the id of each kind of value as a byte, and the header of a map that has them."""
    found = _NUMBERINGS.get((classes, kinds))
    if found is not None:
        return found
    own = list(classes)
    ids: dict[Kind, int] = {}
    for kind in kinds:
        name = kind if isinstance(kind, str) else names.java_name_of(kind)
        number = ID_OF_NAME.get(name)
        if number is None:
            if name not in own:
                own.append(name)
            number = own.index(name) + 1
        ids[kind] = number & 0xFF
    if len(own) > _MOST_CLASSES:
        raise UserError(f"a map of {len(own)} classes; at most {_MOST_CLASSES} have ids")
    out = DataOutput()
    out.write_byte(len(own))
    for number, name in enumerate(own, 1):
        out.write_byte(number)
        out.write_utf(name)
    if len(_NUMBERINGS) < _MOST_NUMBERINGS:
        _NUMBERINGS[classes, kinds] = ids, out.getvalue()
    return ids, out.getvalue()
