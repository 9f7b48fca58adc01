"""Expressions from text to tree: a parser by precedence.

Guarantee: every text gives a tree or a `UserError` that points at the column of the fault. Nesting
is limited, so that no text can exhaust the stack. Source: the grammar of Commons JEXL 3, less
what changes things (assignment, loops, `new`), which no selection of pages needs.
"""

from __future__ import annotations

from filbert.rules.expression.tokens import Kind, Token, fault, tokens
from filbert.rules.expression.tree import (
    Binary,
    Call,
    Choice,
    Constant,
    Listed,
    Name,
    Node,
    Unary,
)

__all__ = ["parse"]

_LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"||"}),
    frozenset({"&&"}),
    frozenset({"==", "!=", "===", "!==", "=~", "!~"}),
    frozenset({"<", "<=", ">", ">=", "=^", "!^", "=$", "!$"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_FUNCTIONS = frozenset({"size", "empty"})
_DEEPEST = 25
_FLAT_LEVELS = 2  # || and && may be as many as one likes: they are rendered without recursion


def parse(text: str) -> Node:
    """Return the tree of an expression.

    Raises:
        UserError: The text is no expression; says where.
    """
    return _Parser(text).run()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0
        self._depth = 0

    def run(self) -> Node:
        node = self._choice()
        self._must_end()
        return node

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _skip(self, operator: str) -> bool:
        if self._next.kind is Kind.OPERATOR and self._next.text == operator:
            self._at += 1
            return True
        return False

    def _must(self, operator: str, why: str) -> None:
        if not self._skip(operator):
            raise fault(self._text, self._next.column, f"{operator} is missing {why}")

    def _must_end(self) -> None:
        token = self._next
        if token.kind is Kind.END:
            return
        hint = "To compare, write ==." if token.text == "=" else ""
        raise fault(self._text, token.column, f"{token.text} cannot stand here", hint=hint)

    def _choice(self) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise fault(self._text, self._next.column, f"nested deeper than {_DEEPEST} levels")
        test = self._binary(0)
        column = self._next.column
        if self._skip("?:") or self._skip("??"):
            test = Choice(test=test, yes=None, no=self._choice(), column=column)
        elif self._skip("?"):
            yes = self._choice()
            self._must(":", f"for the ? at column {column}")
            test = Choice(test=test, yes=yes, no=self._choice(), column=column)
        self._depth -= 1
        return test

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        links = 0
        while self._next.kind is Kind.OPERATOR and self._next.text in _LEVELS[level]:
            token = self._take()
            links += level >= _FLAT_LEVELS
            if links > _DEEPEST:
                raise fault(self._text, token.column, f"more than {_DEEPEST} in a row")
            right = self._binary(level + 1)
            left = Binary(operator=token.text, left=left, right=right, column=token.column)
        return left

    def _unary(self) -> Node:
        signs: list[Token] = []
        while self._next.kind is Kind.OPERATOR and self._next.text in {"!", "-", "+"}:
            signs.append(self._take())
            if len(signs) > _DEEPEST:
                raise fault(self._text, signs[-1].column, f"more than {_DEEPEST} in a row")
        node = self._postfix(self._primary())
        for sign in reversed(signs):
            if sign.text != "+":
                node = Unary(operator=sign.text, operand=node, column=sign.column)
        return node

    def _primary(self) -> Node:
        token = self._take()
        if token.kind in {Kind.NUMBER, Kind.TEXT}:
            return Constant(value=token.value, column=token.column)
        if token.kind is Kind.NAME:
            return self._named(token)
        if token.text == "(":
            node = self._choice()
            self._must(")", f"for the ( at column {token.column}")
            return node
        if token.text == "[":
            items = self._arguments("]", token)
            return Listed(items=items, column=token.column)
        what = (
            "the expression ends too early"
            if token.kind is Kind.END
            else (f"{token.text} cannot stand here")
        )
        raise fault(self._text, token.column, what)

    def _named(self, token: Token) -> Node:
        if token.text in _CONSTANTS:
            return Constant(value=_CONSTANTS[token.text], column=token.column)
        if token.text in _FUNCTIONS and self._skip("("):
            given = self._arguments(")", token)
            if len(given) != 1:
                raise fault(self._text, token.column, f"{token.text}() takes one value")
            return Call(subject=given[0], method=token.text, arguments=(), column=token.column)
        if self._next.text == "(" and self._next.kind is Kind.OPERATOR:
            known = ", ".join(sorted(_FUNCTIONS))
            raise fault(
                self._text,
                token.column,
                f"there is no function {token.text}",
                hint=f"Functions are {known}; methods are called on a value: url.contains('x').",
            )
        return Name(name=token.text, column=token.column)

    def _postfix(self, node: Node) -> Node:
        calls = 0
        while self._skip("."):
            token = self._take()
            if token.kind is not Kind.NAME:
                raise fault(self._text, token.column, "a name must follow the dot")
            if self._skip("("):
                calls += 1
                if calls > _DEEPEST:
                    raise fault(self._text, token.column, f"more than {_DEEPEST} in a row")
                arguments = self._arguments(")", token)
                node = Call(
                    subject=node, method=token.text, arguments=arguments, column=token.column
                )
            elif isinstance(node, Name):
                # A metadata name may have dots: nutch.score
                node = Name(name=f"{node.name}.{token.text}", column=node.column)
            else:
                raise fault(self._text, token.column, f"{token.text} is no method: () is missing")
        return node

    def _arguments(self, closing: str, opened: Token) -> tuple[Node, ...]:
        found: list[Node] = []
        if self._skip(closing):
            return ()
        while True:
            found.append(self._choice())
            if self._skip(closing):
                return tuple(found)
            self._must(",", f"or {closing} for the list at column {opened.column}")
