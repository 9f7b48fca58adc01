"""Every setting as a value: its dotted name, type, default, description.

Guarantee: made from the models, so that it cannot disagree with them. The loader, `config show`,
the reference page and the docs test all read this one list.
"""

from __future__ import annotations

import operator
import types
import typing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, TypeAdapter

from filbert.settings.base import PathOf, Section, within_width
from filbert.settings.root import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic.fields import FieldInfo

__all__ = ["Setting", "catalog", "value_of"]

_WORDS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting.

    Attributes:
        name: Dotted name, such as `fetcher.threads`.
        kind: The Python type.
        default: What holds when nobody says anything.
        description: One sentence, with the unit.
        path: Set when the value names a file.
        metadata: Pydantic's constraints.
    """

    name: str
    kind: object
    default: object
    description: str
    path: PathOf | None
    metadata: tuple[object, ...]

    @property
    def is_optional(self) -> bool:
        """Whether `off` is a value."""
        return type(None) in typing.get_args(self.kind)

    @property
    def is_list(self) -> bool:
        """Whether it holds several texts."""
        return typing.get_origin(self.kind) is tuple

    @property
    def scalar(self) -> object:
        """The type of the value, without `off`."""
        if not self.is_optional:
            return self.kind
        return next(kind for kind in typing.get_args(self.kind) if kind is not type(None))

    @property
    def choices(self) -> tuple[str, ...]:
        """The values allowed, when they are few."""
        return typing.get_args(self.kind) if typing.get_origin(self.kind) is Literal else ()

    @property
    def expects(self) -> str:
        """What would be right, in words."""
        if self.choices:
            return "one of " + ", ".join(repr(choice) for choice in self.choices)
        if self.is_list:
            return "a list of texts"
        words = _WORDS.get(self.scalar, "text") + self._bounds()
        return f"{words}, or 'off'" if self.is_optional else words

    def _bounds(self) -> str:
        parts = []
        for meta in self.metadata:
            for attribute, sign in (("ge", "at least"), ("gt", "above"), ("le", "at most")):
                if (bound := getattr(meta, attribute, None)) is not None:
                    parts.append(f"{sign} {bound}")
        return f" ({', '.join(parts)})" if parts else ""

    def checked(self, value: object) -> object:
        """Return the value as the model would hold it.

        Raises:
            pydantic.ValidationError: It is of the wrong type, or out of bounds.
            ValueError: It is a number wider than any column.
        """
        kind: Any = self.kind
        if self.metadata:
            kind = operator.getitem(Annotated, (kind, *self.metadata))
        adapter: TypeAdapter[object] = TypeAdapter(
            kind, config=ConfigDict(strict=True, allow_inf_nan=False)
        )
        return within_width(self.name, adapter.validate_python(value))


@cache
def catalog() -> Mapping[str, Setting]:
    """Return every setting by its dotted name, in the order of the models."""
    return types.MappingProxyType({one.name: one for one in _walk(Settings, "")})


def value_of(settings: Settings, name: str) -> object:
    """Return the value of a dotted name."""
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _walk(model: type[Section], prefix: str) -> Iterator[Setting]:
    for name, info in model.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from _walk(kind, f"{prefix}{name}.")
        else:
            yield _setting(f"{prefix}{name}", info)


def _setting(name: str, info: FieldInfo) -> Setting:
    marks = [meta for meta in info.metadata if isinstance(meta, PathOf)]
    return Setting(
        name=name,
        kind=info.annotation,
        default=info.default,
        description=info.description or "",
        path=marks[0] if marks else None,
        metadata=tuple(meta for meta in info.metadata if not isinstance(meta, PathOf)),
    )
