"""Plugins of one crawl in a single file: `plugins = ["./my_site.py"]` in filbert.toml.

Put it into the crawl folder and name its plugins in the settings:

    plugins = ["./my_site.py"]

    [urls]
    filters = ["regex", "my-site"]

    [parse]
    filters = ["my-site-breadcrumbs"]
"""

from dataclasses import replace

from filbert.plugins.contracts import Page, Parse, Verdict


class MySite:
    """Keeps to one site, and out of its shopping carts."""

    name = "my-site"

    @classmethod
    def from_settings(cls, settings, folder):
        return cls()

    def fingerprint(self) -> str:
        """Change it when the verdicts change."""
        return "1"

    def judge(self, url: str) -> Verdict:
        """Return the verdict; the reason is what is counted."""
        if "/cart/" in url:
            return Verdict(accepted=False, reason="cart", rule="/cart/")
        return Verdict(accepted=url.startswith("http://my-site.test/"), reason="elsewhere")


class Breadcrumbs:
    """A parse filter: takes the site's name off the titles."""

    name = "my-site-breadcrumbs"

    @classmethod
    def from_settings(cls, settings, folder):
        return cls()

    def filter(self, page: Page, parse: Parse) -> Parse:
        """Return the parse with a shorter title."""
        return replace(parse, title=parse.title.removesuffix(" | My Site"))


PLUGINS = {"url_filters": [MySite], "parse_filters": [Breadcrumbs]}
