"""From what people write to typed values.

Guarantee: text from the environment or `-D`, and values of TOML, become exactly the type of the
setting, or a `ValueError` that says what would be right.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from filbert.settings.catalog import Setting

__all__ = ["from_text", "from_toml"]

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_OFF = frozenset({"off", "none", "nan", ""})


def from_text(setting: Setting, text: str) -> object:
    """Read a value out of text, as `-D` and the environment give it.

    Raises:
        ValueError: The text is no such value; says what would be right.
    """
    try:
        return _checked(setting, _read(setting, text.strip()))
    except ValueError as error:
        raise ValueError(_complaint(setting, text, error)) from None


def from_toml(setting: Setting, value: object) -> object:
    """Take a value as TOML gives it: typed already, lists instead of tuples.

    Raises:
        ValueError: It is of the wrong type; says what would be right.
    """
    if setting.is_optional and isinstance(value, str) and value.lower() in _OFF:
        return None
    if setting.is_list and isinstance(value, list):
        value = tuple(value)
    try:
        return _checked(setting, value)
    except ValueError as error:
        raise ValueError(_complaint(setting, value, error)) from None


def _read(setting: Setting, text: str) -> object:
    if setting.is_list:
        return _read_list(text)
    if setting.is_optional and text.lower() in _OFF:
        return None
    readers: dict[object, Callable[[str], object]] = {bool: _read_bool, int: int, float: float}
    return readers.get(setting.scalar, str)(text)


def _read_bool(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(text)


def _read_list(text: str) -> tuple[object, ...]:
    if text.startswith("["):
        return tuple(tomllib.loads(f"value = {text}")["value"])
    return tuple(part for part in re.split(r"[,\s]+", text) if part)


def _checked(setting: Setting, value: object) -> object:
    try:
        return setting.checked(value)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ValueError(message) from None


def _complaint(setting: Setting, value: object, error: ValueError) -> str:
    shown = repr(value) if len(repr(value)) < 80 else repr(value)[:76] + "…'"
    reason = str(error)
    extra = f" ({reason})" if reason.startswith("must be") else ""
    return f"{setting.name} cannot be {shown}: it is {setting.expects}{extra}"
