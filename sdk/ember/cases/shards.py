"""Cases become parts that take about the same time, for several machines."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ember.cases import Found
from ember.errors import SdkError, UsageError
from ember.files import documents

_START = 100_000  # instructions that a case costs besides its own


def parse(text: str) -> tuple[int, int]:
    """'3/8' -> the third of eight parts."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal()) or not 1 <= int(part) <= int(parts):
        raise UsageError(f"--shard is a part of all such as 3/8, not '{text}'")
    return int(part), int(parts)


def costs(path: Path) -> dict[str, float]:
    """What each case took in an earlier run, by the JSON of `ember test`."""
    facts = documents.read_json(path)
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
