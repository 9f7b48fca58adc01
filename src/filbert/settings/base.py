"""What every settings section is made of.

Guarantee: a section is frozen and strict: it refuses unknown names and values of the wrong type,
and cannot change after the start of a command. Units are in the name or in the description. A
number that the tables' columns cannot hold, or that is more time than they can, is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo, field_validator

__all__ = ["Names", "OneLine", "OneLineNames", "PathOf", "PluginFile", "Section", "within_width"]

_INT_MAX = 2**31 - 1  # Java's int, in which Nutch keeps all but its milliseconds
_FLOAT_MAX = 3.4e38  # a score is a float of 32 bits


class Section(BaseModel):
    """Settings of one stage."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )

    @field_validator("*")
    @classmethod
    def _within_width(cls, value: object, info: ValidationInfo) -> object:
        return within_width(info.field_name or "", value)


def within_width(name: str, value: object) -> object:
    """Return the value of the setting called `name`, whose end says the unit.

    Raises:
        ValueError: It is a number wider than anything that it could be used for.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if name.endswith("_ms"):
        most: float = _INT_MAX * 1000
    else:
        most = _INT_MAX if isinstance(value, int) or name.endswith("_s") else _FLOAT_MAX
    if abs(value) > most:
        raise ValueError(f"must be at most {most}")
    return value


@dataclass(frozen=True, slots=True)
class PathOf:
    """Marks a setting that names a file.

    A relative path is taken from the folder of the `filbert.toml` that says it, or from the
    working directory when the environment or `-D` says it. A file called `standard_name` in the
    crawl folder is found without a setting, so that Nutch's own rule files work where they lie.
    A setting that is `read` names a file that must be there.
    """

    standard_name: str = ""
    read: bool = False


def _one_line(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must be one line, without control characters")
    if not value.isascii():
        raise ValueError("must be ASCII, since it goes into a header of HTTP (RFC 9110, 5.5)")
    return value


def _one_line_each(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_one_line(value) for value in values)


OneLine = Annotated[str, AfterValidator(_one_line)]
"""Text that goes into a header of HTTP."""

OneLineNames = Annotated[tuple[str, ...], AfterValidator(_one_line_each)]
"""Several such."""

Names = tuple[str, ...]
"""Several names; in the environment and in `-D` separated by commas or blanks."""

PluginFile = Annotated[str, PathOf()]
"""A module name (`my_package.filters`) or a single file (`./my_site.py`)."""
