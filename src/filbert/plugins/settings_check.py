"""What single settings cannot show to be wrong: names of plugins, addresses, lists that are empty.

Guarantee: nothing is made, opened or asked; what passes here can be used by every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.plugins.protocols.connect_to import ConnectTo
from filbert.rules.addresses import parse_rules

if TYPE_CHECKING:
    from filbert.plugins.registry import PluginRepository
    from filbert.settings import Settings

__all__ = ["check_settings"]


def check_settings(settings: Settings, plugins: PluginRepository) -> None:
    """Check the settings against what they name.

    Raises:
        PluginError: A plugin, or a file of plugins, is not there or broken.
        UserError: Addresses or names led elsewhere have no such form; nothing is left to parse by.
    """
    plugins.check()
    if not settings.parse.parsers:
        raise UserError(
            "parse.parsers names no parser: every page would fail", hint="Name html at least."
        )
    http = settings.http
    parse_rules(http.allow_addresses, http.deny_addresses, http.only_addresses)
    ConnectTo(http.resolve)
