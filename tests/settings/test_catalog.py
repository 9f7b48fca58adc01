"""The list of all settings."""

from __future__ import annotations

import pytest

from filbert.settings import Settings
from filbert.settings.catalog import catalog, value_of


@pytest.mark.parametrize("name", catalog())
def test_a_default_is_a_value_that_would_be_taken(name: str) -> None:
    """Each default passes its own check, and is what the model has."""
    setting = catalog()[name]

    assert setting.checked(setting.default) == setting.default
    assert value_of(Settings(), name) == setting.default


def test_what_is_expected_is_said_in_words() -> None:
    """Types, bounds and choices come out in words for error messages."""
    names = ("fetcher.threads", "fetcher.parse", "dedup.group", "urls.filters", "inject.score")
    got = [catalog()[name].expects for name in (*names, "generate.min_score")]

    assert got == [
        "a whole number (at least 1)",
        "true or false",
        "one of 'none', 'host', 'domain'",
        "a list of texts",
        "a number",
        "a number, or 'off'",
    ]
