"""An expression such as 'add and not (bf16 or f16)' becomes a test of names."""

from __future__ import annotations

import re
from collections.abc import Callable

from ember.errors import UsageError

Filter = Callable[[str], bool]
_MOST_DEPTH = 100
_TOKEN = re.compile(r"\(|\)|[^\s()]+")


def parse(expression: str) -> Filter:
    """A test for names that match the expression; '' matches any name."""
    if not expression.strip():
        return lambda name: True
    parser = _Parser(expression)
    test = parser.either()
    if parser.tokens:
        parser.fail(f"'{parser.tokens[0]}' is unexpected")
    return test


class _Parser:
    """either = both ('or' both)*; both = one ('and' one)*; one = 'not' one | word."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.tokens = _TOKEN.findall(expression)
        if sum(token in ("not", "(") for token in self.tokens) > _MOST_DEPTH:
            self.fail(f"it has more than {_MOST_DEPTH} parentheses and `not`s")

    def fail(self, why: str) -> None:
        raise UsageError(
            f"-k '{self.expression}' is not a valid expression: {why}",
            hint="combine words with and, or, not and parentheses",
        )

    def take(self, *words: str) -> bool:
        if self.tokens and self.tokens[0] in words:
            self.tokens.pop(0)
            return True
        return False

    def either(self) -> Filter:
        terms = [self.both()]
        while self.take("or"):
            terms.append(self.both())
        return lambda name: any(term(name) for term in terms)

    def both(self) -> Filter:
        terms = [self.one()]
        while self.take("and"):
            terms.append(self.one())
        return lambda name: all(term(name) for term in terms)

    def one(self) -> Filter:
        if self.take("not"):
            inner = self.one()
            return lambda name: not inner(name)
        if self.take("("):
            inner = self.either()
            if not self.take(")"):
                self.fail("a closing parenthesis is missing")
            return inner
        if not self.tokens or self.tokens[0] in (")", "and", "or"):
            self.fail("a word is missing")
        word = self.tokens.pop(0).lower()
        return lambda name: word in name.lower()
