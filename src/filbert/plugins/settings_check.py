"""What single settings cannot show to be wrong: names of plugins, addresses, lists that are empty.

Guarantee: nothing is made or asked, and only small files that settings name are read; what passes
here can be used by every step.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from filbert.errors import UserError
from filbert.plugins.protocol_factory import mapping_from
from filbert.plugins.protocols.chromium import find_browser
from filbert.plugins.protocols.connect_to import ConnectTo
from filbert.plugins.protocols.credentials import read_agents, read_cookies, read_logins
from filbert.plugins.protocols.proxy import Proxy
from filbert.rules.addresses import parse_rules

if TYPE_CHECKING:
    from filbert.plugins.registry import PluginRepository
    from filbert.settings import Settings

__all__ = ["check_browser", "check_settings"]


def check_settings(settings: Settings, plugins: PluginRepository) -> None:
    """Check the settings against what they name.

    Raises:
        PluginError: A plugin, or a file of plugins, is not there or broken.
        UserError: Addresses or names led elsewhere have no such form, logins or cookies cannot be
            read; nothing is left to parse by.
    """
    plugins.check()
    if not settings.parse.parsers:
        raise UserError(
            "parse.parsers names no parser: every page would fail", hint="Name html at least."
        )
    http = settings.http
    parse_rules(http.allow_addresses, http.deny_addresses, http.only_addresses)
    ConnectTo(http.resolve)
    Proxy.from_settings(settings.proxy)
    read_logins(http.auth_file)
    read_cookies(http.cookie_file)
    if http.agent_rotate:
        read_agents(http.agent_rotate_file)


def check_browser(settings: Settings) -> None:
    """Refuse to ask hosts by a browser that is not there.

    Raises:
        UserError: It, or the extra that drives it, is not installed.
    """
    if "browser" not in mapping_from(settings).names():
        return
    if find_spec("playwright") is None:
        raise UserError(
            "the settings ask for the browser protocol, and the extra is not installed",
            hint="pip install 'filbert[browser]'",
        )
    if find_browser(settings.browser.program) is None:
        raise UserError(
            f"there is no browser {settings.browser.program or 'chromium on the PATH'}",
            hint="Install Debian's package chromium, or name a program: browser.program",
        )
