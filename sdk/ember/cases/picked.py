"""Cases become those that a run picks: by an expression of names, or a part of them.

An expression is such as 'add and not (bf16 or f16)'. Parts take about the same time,
for several machines.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ember import files
from ember.cases import Found
from ember.errors import SdkError, UsageError

Filter = Callable[[str], bool]
_MOST_DEPTH = 100
_TOKEN = re.compile(r"\(|\)|[^\s()]+")


def parse_filter(expression: str) -> Filter:
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


# ---- parts for several machines ------------------------------------------------------


_START = 100_000  # instructions that a case costs besides its own


def parse_part(text: str) -> tuple[int, int]:
    """'3/8' -> the third of eight parts."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal()) or not 1 <= int(part) <= int(parts):
        raise UsageError(f"--shard is a part of all such as 3/8, not '{text}'")
    return int(part), int(parts)


def costs(path: Path) -> dict[str, float]:
    """What each case took in an earlier run, by the JSON of `ember test`."""
    facts = files.read_json(path)
    try:
        totals: dict[str, float] = {}
        for case in facts["cases"]:
            totals[case["name"]] = totals.get(case["name"], 0) + (
                case["instructions"] or 0
            )
    except (KeyError, TypeError):
        raise SdkError(
            f"{path} has no results of cases",
            hint="make it by `ember test ... --json FILE`",
        ) from None
    return totals


def part_of(
    cases: Sequence[Found], part: int, parts: int, known: Mapping[str, Any]
) -> list[Found]:
    """The cases of a part, in their order: the costliest first, each goes where least
    is. Machines that know the same cases and costs agree on the parts."""
    usual = sum(known.values()) / len(known) if known else 0
    cost = {case.name: known.get(case.name, usual) + _START for case in cases}
    loads = [(0.0, index) for index in range(parts)]
    mine: set[str] = set()
    for name in sorted(cost, key=lambda name: (-cost[name], name)):
        load, index = heapq.heappop(loads)
        heapq.heappush(loads, (load + cost[name], index))
        if index == part - 1:
            mine.add(name)
    return [case for case in cases if case.name in mine]
