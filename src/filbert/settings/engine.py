"""Settings of the engine: memory, processes, spill folder."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from filbert.settings.base import PathOf, Section

__all__ = ["EngineSettings"]


class EngineSettings(Section):
    """What runs the queries and the page work."""

    name: Literal["local"] = Field(
        "local", description="The engine. (Spark comes with a later version.)"
    )
    memory_limit_mb: int = Field(
        768,
        ge=128,
        description="Memory of the queries in MB; beyond it they spill to disk. The whole process "
        "takes about 200 MB more.",
    )
    spill_dir: Annotated[str, PathOf()] = Field(
        "", description="Where they spill; blank: a folder in the crawl folder."
    )
    processes: int = Field(0, ge=0, description="Processes for page work; 0: one per core.")
    threads: int = Field(0, ge=0, description="Threads of the queries; 0: one per core.")
