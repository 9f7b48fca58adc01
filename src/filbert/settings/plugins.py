"""Settings of plugins beside the installed packages."""

from __future__ import annotations

from pydantic import Field

from filbert.settings.base import PluginFile, Section

__all__ = ["PluginsSettings"]


class PluginsSettings(Section):
    """Where plugins come from, beside the packages that are installed."""

    files: tuple[PluginFile, ...] = Field(
        (),
        description="Single files (`./my_site.py`) or module names. In `filbert.toml` plain "
        '`plugins = ["./my_site.py"]` means the same.',
    )
