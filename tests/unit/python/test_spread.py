"""Buffers over several memories: against proved optima, and rules that must hold."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pace
import pytest

from ember.plan import offsets
from ember.plan.offsets.buffers import Buffer
from ember.plan.offsets.spread import Assignment, Item, spread

PROBLEMS = json.loads((Path(__file__).parent / "data" / "placement.json").read_text())
PAIRS = [
    pytest.param(problem, int(capacity), best, id=f"{problem['model']}-{capacity}")
    for problem in PROBLEMS
    for capacity, best in problem["optima"].items()
]
LARGE = 1 << 40


def alive(size: int, first: int, last: int) -> Buffer:
    return Buffer(size, frozenset(range(first, last + 1)))


def check(items: list[Item], capacities: list[int], assignment: Assignment) -> None:
    """Every memory holds what is in it, without overlap, and takes no other item."""
    for memory, capacity in enumerate(capacities):
        inside = [n for n, where in enumerate(assignment.where) if where == memory]
        blocks = sum(items[n].buffer.size for n in inside if items[n].is_block)
        packed = [n for n in inside if not items[n].is_block]
        buffers = [items[n].buffer for n in packed]
        places = [assignment.offsets[n] for n in packed]
        assert offsets.overlap(buffers, places) is None
        ends = [o + b.size for o, b in zip(places, buffers, strict=True)]
        assert max(ends, default=0) + blocks <= capacity
        assert all(items[n].costs[memory] is not None for n in inside)


def fast_and_slow(rows: list[list[int]]) -> list[Item]:
    return [Item(alive(size, a, b), (0, total)) for size, a, b, total in rows]


def kept(rows: list[list[int]], assignment: Assignment) -> int:
    return sum(row[3] for row, m in zip(rows, assignment.where, strict=True) if m == 0)


def test_there_are_enough_pairs_to_believe_it() -> None:
    assert len(PAIRS) >= 24
    assert len(PROBLEMS) >= 8


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "capacity", "best"), PAIRS)
def test_close_to_the_proved_optimum(
    problem: dict[str, Any], capacity: int, best: int
) -> None:
    rows = problem["buffers"]
    items = fast_and_slow(rows)
    with pace.within(1.0):
        assignment = spread(items, [capacity, LARGE])
    check(items, [capacity, LARGE], assignment)
    assert 0.98 * best <= kept(rows, assignment) <= best


def by_size(rows: list[list[int]], capacity: int) -> int:
    """Traffic that taking the largest first keeps, as banked planners do."""
    chosen: list[list[int]] = []
    for row in sorted(rows, key=lambda row: -row[0]):
        buffers = [alive(*entry[:3]) for entry in (*chosen, row)]
        if offsets.place(buffers, capacity, 10_000).height <= capacity:
            chosen.append(row)
    return sum(row[3] for row in chosen)


@pytest.mark.parametrize(("problem", "capacity", "best"), PAIRS[1:24:4])
def test_no_worse_than_the_largest_first(
    problem: dict[str, Any], capacity: int, best: int
) -> None:
    rows = problem["buffers"]
    assignment = spread(fast_and_slow(rows), [capacity, LARGE])
    assert kept(rows, assignment) >= by_size(rows, capacity)


@pytest.mark.parametrize("seed", range(10))
def test_three_memories_hold_what_they_are_given(seed: int) -> None:
    numbers = random.Random(seed)
    items = []
    for _ in range(80):
        is_block = numbers.random() < 0.1
        first = 0 if is_block else numbers.randrange(40)
        last = 50 if is_block else first + numbers.randrange(9)
        buffer = alive(16 * numbers.randrange(1, 60), first, last)
        used = numbers.randrange(1, 1000)
        costs: list[int | None] = [used, 3 * used, 20 * used]
        if numbers.random() < 0.2:
            costs[numbers.randrange(3)] = None
        items.append(Item(buffer, tuple(costs), is_block))
    capacities = [3008, 8000, 60_000]
    assignment = spread(items, capacities)
    check(items, capacities, assignment)
    assert None not in assignment.where
    assert assignment == spread(items, capacities)


def test_what_has_no_room_is_told() -> None:
    items = [Item(alive(64, 0, 3), (1, None)), Item(alive(64, 2, 5), (1, None))]
    assert sorted(map(str, spread(items, [64, 64]).where)) == ["0", "None"]


def test_gaps_between_buffers_count() -> None:
    # Around a ring 2 of 3 units at most are alive, but 3 are needed: one must go.
    items = [
        Item(Buffer(16, frozenset({n, (n + 1) % 5})), (0, 10 + n)) for n in range(5)
    ]
    assignment = spread(items, [32, LARGE])
    check(items, [32, LARGE], assignment)
    assert assignment.where == (1, 0, 0, 0, 0)


def test_empty_ones_lie_anywhere() -> None:
    assert spread([Item(alive(0, 0, 1), (5, 1))], [0, 0]).where == (1,)
    assert spread([], [16]).where == ()


def test_the_optima_are_those_of_a_solver() -> None:
    pytest.importorskip("ortools", reason="pip install ortools")
    from importlib import util

    script = Path(__file__).resolve().parents[3] / "tools" / "placement_optimum.py"
    spec = util.spec_from_file_location("placement_optimum", script)
    assert spec is not None
    assert spec.loader is not None
    tool = util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for graph in PROBLEMS[:8]:
        for capacity, best in graph["optima"].items():
            assert tool.optimum(graph["buffers"], int(capacity)) == best
