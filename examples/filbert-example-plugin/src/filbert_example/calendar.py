"""A URL filter: no calendars of other centuries."""

import re

from filbert.plugins.contracts import Verdict


class CalendarFilter:
    """Drops URLs with a year before 1990 or after 2040 in their path."""

    name = "calendar"
    year = re.compile(r"/(\d{4})/(?:0[1-9]|1[0-2])/")

    @classmethod
    def from_settings(cls, settings, folder):
        return cls()

    def fingerprint(self) -> str:
        """Change it when the verdicts change: the crawldb is then judged anew."""
        return "1"

    def judge(self, url: str) -> Verdict:
        """Return the verdict, with the rule that decided."""
        found = self.year.search(url)
        wanted = found is None or 1990 <= int(found[1]) <= 2040
        return Verdict(accepted=wanted, reason="calendar", rule="a year from 1990 to 2040")
