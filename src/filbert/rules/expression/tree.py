"""What an expression is once read: a tree of a few kinds of nodes.

Guarantee: values only; each node knows the column it is to be blamed at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Binary", "Call", "Choice", "Constant", "Listed", "Name", "Node", "Unary", "names_in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A number, a text, true, false or null."""

    value: str | int | float | bool | None
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A variable: of the page, or a name of its metadata."""

    name: str
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """`[a, b]`: what `=~` may look in."""

    items: tuple[Node, ...]
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary:
    """`!x` or `-x`."""

    operator: str
    operand: Node
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """`left operator right`; the operator as a sign, never as a word."""

    operator: str
    left: Node
    right: Node
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`test ? yes : no`; without `yes` it is `test ?: no` or `test ?? no`."""

    test: Node
    yes: Node | None
    no: Node
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`subject.method(arguments)`; functions such as `size(x)` have x as their subject."""

    subject: Node
    method: str
    arguments: tuple[Node, ...]
    column: int


Node = Constant | Name | Listed | Unary | Binary | Choice | Call


def names_in(node: Node) -> Iterator[Name]:
    """Return the variables below a node, from left to right."""
    below: tuple[Node | None, ...] = ()
    match node:
        case Name():
            yield node
        case Constant():
            pass
        case Listed():
            below = node.items
        case Unary():
            below = (node.operand,)
        case Binary():
            below = (node.left, node.right)
        case Choice():
            below = (node.test, node.yes, node.no)
        case Call():
            below = (node.subject, *node.arguments)
    for one in below:
        if one is not None:
            yield from names_in(one)
