"""Expressions from tree to SQL.

Guarantee: values enter by `rules.sql.literal` alone, names by the table of columns below or as a
metadata key through `literal`; what cannot be computed (a missing name, a text that is no number)
is null, and null is false in the end. Whole numbers divide as whole numbers; texts compare with
numbers as numbers. No calculation leaves 64 bits: one that could is made with doubles.
Source: Commons JEXL's arithmetic, `CrawlDatum.execute`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from filbert.rules.expression.columns import column_of
from filbert.rules.expression.methods import METHODS, full_match
from filbert.rules.expression.tokens import date_ms, fault
from filbert.rules.expression.tree import Binary, Call, Choice, Constant, Listed, Name, Unary
from filbert.rules.expression.typed import BIGINT_MAX, BOOL, DECIMAL, NULL, TEXT, WHOLE, Typed
from filbert.rules.sql import literal

if TYPE_CHECKING:
    from filbert.errors import UserError
    from filbert.rules.expression.tree import Node

__all__ = ["predicate"]

_COMPARED = {"==": "=", "!=": "<>", "===": "=", "!==": "<>"}
_ORDERED = frozenset({"<", "<=", ">", ">="})
_CALCULATED = frozenset({"+", "-", "*", "/", "%"})
_MOST = {"+": int.__add__, "-": int.__add__, "*": int.__mul__}
_LONGEST = 1_000_000
_NEGATED = {"!~": "=~", "!^": "=^", "!$": "=$"}


def predicate(text: str, node: Node) -> str:
    """Return the SQL of tree `node`, read from `text`: true or false, never null.

    Raises:
        UserError: Kinds of values do not go together, or it gives no truth value.
    """
    result = _Renderer(text).render(node)
    if result.kind is not BOOL:
        raise fault(
            text,
            node.column,
            f"the expression gives a {result.kind.word}, not true or false",
            hint="Compare it with something: score > 0.5",
        )
    return f"coalesce({result.sql}, false)"


_Side = tuple["Node", Typed]


class _Renderer:
    def __init__(self, text: str) -> None:
        self._text = text

    def render(self, node: Node) -> Typed:
        found = self._rendered(node)
        if len(found.sql) > _LONGEST:  # some methods name their subject twice, and so on below
            raise self._fault(node, "too long once it is written as a query")
        return found

    def _rendered(self, node: Node) -> Typed:
        match node:
            case Constant():
                return _constant(node)
            case Name():
                return column_of(self._text, node)
            case Unary():
                return self._unary(node)
            case Binary():
                return self._binary(node)
            case Choice():
                return self._choice(node)
            case Call():
                return self._call(node)
            case Listed():
                raise self._fault(node, "a list can only stand to the right of =~ or !~")

    def _fault(self, node: Node, what: str) -> UserError:
        return fault(self._text, node.column, what)

    def _unary(self, node: Unary) -> Typed:
        if node.operator == "!":
            return Typed(f"(not {self._truth(node.operand)})", BOOL)
        value = self._number((node.operand, self.render(node.operand)))
        return value._replace(sql=f"(- {value.sql})")

    def _binary(self, node: Binary) -> Typed:
        operator = node.operator
        if operator in {"&&", "||"}:
            word = " and " if operator == "&&" else " or "
            return Typed(f"({word.join(self._truth(one) for one in _chain(node))})", BOOL)
        if operator in _NEGATED:
            return Typed(f"(not {self._like(node, _NEGATED[operator]).sql})", BOOL)
        if operator in _COMPARED:
            return self._equal(_both(self, node), _COMPARED[operator])
        if operator in _ORDERED:
            return self._comparison(_both(self, node), operator)
        if operator in _CALCULATED:
            return self._calculation(node)
        return self._like(node, operator)

    def _truth(self, node: Node) -> str:
        value = self.render(node)
        if value.kind is BOOL:
            return value.sql
        if value.kind is TEXT:
            return f"(lower({value.sql}) = 'true')"
        return f"({value.sql} <> 0)" if value.kind.is_number else "false"

    def _number(self, side: _Side) -> Typed:
        node, value = side
        if isinstance(node, Constant) and isinstance(node.value, str):
            moment = date_ms(node.value)
            if moment is not None:
                return Typed(literal(moment), WHOLE, abs(moment))
        if value.kind is TEXT:
            return Typed(f"try_cast({value.sql} as double)", DECIMAL)
        if value.kind is BOOL:
            raise self._fault(node, "true or false is no number")
        return value

    def _text_of(self, side: _Side) -> str:
        node, value = side
        if value.kind is BOOL:
            raise self._fault(node, "true or false is no text")
        return value.sql if value.kind is TEXT else f"cast({value.sql} as string)"

    def _equal(self, sides: tuple[_Side, _Side], sign: str) -> Typed:
        (_, left), (_, right) = sides
        if NULL in {left.kind, right.kind}:
            other = right if left.kind is NULL else left
            return Typed(f"({other.sql} is {'not ' if sign == '<>' else ''}null)", BOOL)
        if left.kind is BOOL and right.kind is BOOL:
            return Typed(f"({left.sql} {sign} {right.sql})", BOOL)
        return self._comparison(sides, sign)

    def _comparison(self, sides: tuple[_Side, _Side], sign: str) -> Typed:
        left, right = sides
        if left[1].kind is TEXT and right[1].kind is TEXT:
            return Typed(f"({left[1].sql} {sign} {right[1].sql})", BOOL)
        return Typed(f"({self._number(left).sql} {sign} {self._number(right).sql})", BOOL)

    def _calculation(self, node: Binary) -> Typed:
        one, other = _both(self, node)
        if node.operator == "+" and TEXT in {one[1].kind, other[1].kind}:
            return Typed(f"({self._text_of(one)} || {self._text_of(other)})", TEXT)
        left, right = self._number(one), self._number(other)
        most = _MOST.get(node.operator, max)(left.most, right.most)
        if {left.kind, right.kind} <= {WHOLE, NULL} and most <= BIGINT_MAX:
            return _whole(node.operator, left, right, most)
        one_sql, other_sql = left.as_double, right.as_double
        if node.operator in {"/", "%"}:
            other_sql = f"nullif({other_sql}, 0)"
        return Typed(f"({one_sql} {node.operator} {other_sql})", DECIMAL)

    def _like(self, node: Binary, operator: str) -> Typed:
        if operator == "=~" and isinstance(node.right, Listed):
            return self._among(node, node.right)
        subject = self._text_of((node.left, self.render(node.left)))
        if operator == "=~":
            return Typed(full_match(self._text, subject, node.right), BOOL)
        wanted = self._text_of((node.right, self.render(node.right)))
        side = f"substr({subject}, 1, length({wanted}))"
        if operator == "=$":
            side = f"right({subject}, length({wanted}))"
        return Typed(f"({side} = {wanted})", BOOL)

    def _among(self, node: Binary, listed: Listed) -> Typed:
        left = (node.left, self.render(node.left))
        tests = [self._equal((left, (one, self.render(one))), "=") for one in listed.items]
        return Typed(f"({' or '.join(test.sql for test in tests)})" if tests else "false", BOOL)

    def _choice(self, node: Choice) -> Typed:
        no = self.render(node.no)
        yes = self.render(node.test if node.yes is None else node.yes)
        numbers = yes.kind.is_number and no.kind.is_number
        if yes.kind is not no.kind and NULL not in {yes.kind, no.kind} and not numbers:
            raise self._fault(node, f"one side is a {yes.kind.word}, the other a {no.kind.word}")
        kind = no.kind if yes.kind is NULL or no.kind is DECIMAL else yes.kind
        most = max(yes.most, no.most)
        if node.yes is None:
            return Typed(f"coalesce({yes.sql}, {no.sql})", kind, most)
        test = self._truth(node.test)
        return Typed(f"(case when {test} then {yes.sql} else {no.sql} end)", kind, most)

    def _call(self, node: Call) -> Typed:
        method = METHODS.get(node.method)
        if method is None:
            known = ", ".join(sorted(METHODS))
            raise fault(
                self._text, node.column, f"there is no method {node.method}", hint=f"Known: {known}"
            )
        if len(node.arguments) not in method.arguments:
            counts = " or ".join(str(count) for count in method.arguments)
            raise self._fault(node, f"{node.method}() takes {counts} arguments")
        subject = self._text_of((node.subject, self.render(node.subject)))
        if node.method == "matches":
            return Typed(full_match(self._text, subject, node.arguments[0]), BOOL)
        sides = [(one, self.render(one)) for one in node.arguments]
        given = [
            self._number(side).sql if method.numbers else self._text_of(side) for side in sides
        ]
        return Typed(method.sql(subject, *given), method.returns)


def _constant(node: Constant) -> Typed:
    value = node.value
    if value is None:
        return Typed("null", NULL)
    if isinstance(value, bool):
        return Typed(literal(value), BOOL)
    if isinstance(value, int):
        return Typed(f"cast({literal(value)} as bigint)", WHOLE, value)
    if isinstance(value, float) and math.isinf(value):
        return Typed(f"cast({literal('Infinity')} as double)", DECIMAL)
    return Typed(literal(value), DECIMAL if isinstance(value, float) else TEXT)


def _whole(operator: str, left: Typed, right: Typed, most: int) -> Typed:
    if operator == "/":
        return Typed(f"int_div({left.sql}, nullif({right.sql}, 0))", WHOLE, most)
    if operator == "%":
        return Typed(f"({left.sql} % nullif({right.sql}, 0))", WHOLE, most)
    return Typed(f"({left.sql} {operator} {right.sql})", WHOLE, most)


def _both(renderer: _Renderer, node: Binary) -> tuple[_Side, _Side]:
    return (node.left, renderer.render(node.left)), (node.right, renderer.render(node.right))


def _chain(node: Binary) -> list[Node]:
    """Return the operands of `a && b && c`, without recursion."""
    found: list[Node] = [node.right]
    left: Node = node.left
    while isinstance(left, Binary) and left.operator == node.operator:
        found.append(left.right)
        left = left.left
    return [left, *reversed(found)]
