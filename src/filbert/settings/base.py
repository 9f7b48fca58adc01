"""What every settings section is made of.

Guarantee: a section is frozen and strict: it refuses unknown names and values of the wrong type,
and cannot change after the start of a command. Units are in the name or in the description.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict

__all__ = ["Names", "PathOf", "PluginFile", "Section"]


class Section(BaseModel):
    """Settings of one stage."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )


@dataclass(frozen=True, slots=True)
class PathOf:
    """Marks a setting that names a file.

    A relative path is taken from the folder of the `filbert.toml` that says it, or from the
    working directory when the environment or `-D` says it. A file called `standard_name` in the
    crawl folder is found without a setting, so that Nutch's own rule files work where they lie.
    """

    standard_name: str = ""


Names = tuple[str, ...]
"""Several names; in the environment and in `-D` separated by commas or blanks."""

PluginFile = Annotated[str, PathOf()]
"""A module name (`my_package.filters`) or a single file (`./my_site.py`)."""
