"""Buffers become offsets, the height they need, and bounds of the best height.

First several orders of first and best fit; when they miss the lower bound, an
exhaustive search at the bound; when it gives up or proves the bound out of reach, the
search halves the gap. Deterministic: effort is counted in steps, not in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ember.plan.offsets import buffers as of
from ember.plan.offsets import native
from ember.plan.offsets.buffers import Buffer

# Steps of the search: about a second, and what one may spend on a stated capacity.
STEPS = 300_000_000
MANY_STEPS = 6_000_000_000
_FEWEST_STEPS = 10_000_000


@dataclass(frozen=True)
class Placement:
    """Offsets of the buffers, in their order; all in bytes."""

    offsets: tuple[int, ...]
    height: int  # the end of the highest
    lower_bound: int  # no placement is lower
    proved: bool  # nothing is lower than this height


def place(
    buffers: Sequence[Buffer], capacity: int | None = None, steps: int = STEPS
) -> Placement:
    """Offsets as low as they get; with `capacity`, no lower than it asks for.

    Buffers with `fixed` stay where they are; for these the search is not exhaustive.
    """
    problem, numbers = _problem(buffers)
    bound = of.lower_bound(buffers)
    offsets = [buffer.fixed or 0 for buffer in buffers]
    if not numbers:
        return Placement(tuple(offsets), bound, bound, True)
    best, height = _by_orders(problem, bound)
    enough = bound if capacity is None else max(bound, capacity)
    proved = height <= bound
    if height > enough and all(buffer.fixed is None for buffer in buffers):
        best, height, bound_now = _by_search(
            problem, best, height, bound, enough, steps
        )
        proved = height <= bound_now
    for number, offset in zip(numbers, best, strict=True):
        offsets[number] = offset
    return Placement(tuple(offsets), height, bound, proved)


def _problem(buffers: Sequence[Buffer]) -> tuple[native.Problem, list[int]]:
    """The buffers that need room, and their numbers."""
    numbers = [
        n for n, buffer in enumerate(buffers) if buffer.size > 0 and buffer.points
    ]
    chosen = [buffers[number] for number in numbers]
    return native.Problem(chosen, of.sections(chosen)), numbers


def _height(problem: native.Problem, offsets: Sequence[int]) -> int:
    ends = (
        offset + of.padded(buffer)
        for offset, buffer in zip(offsets, problem.buffers, strict=True)
    )
    return max(ends)


def _orders(problem: native.Problem) -> Iterator[list[int]]:
    """Ways to take the buffers: what is hard to place first."""
    size = [buffer.size for buffer in problem.buffers]
    length = [len(moments) for moments in problem.where.of]
    start = [moments.runs[0][0] for moments in problem.where.of]
    keys: tuple[Callable[[int], tuple[int, ...]], ...] = (
        lambda n: (-size[n], -length[n]),
        lambda n: (-size[n] * length[n],),
        lambda n: (-length[n], -size[n]),
        lambda n: (start[n], -size[n]),
        lambda n: (-start[n] - length[n], -size[n]),
    )
    for key in keys:
        yield sorted(range(len(size)), key=lambda n: (*key(n), n))


def _by_orders(problem: native.Problem, bound: int) -> tuple[list[int], int]:
    """The best of first and best fit over the orders; the earliest where they tie."""
    lowest: list[int] = []
    least: int | None = None
    for order in _orders(problem):
        for best in (False, True):
            offsets = problem.first_fit(order, best=best)
            height = _height(problem, offsets)
            if least is None or height < least:
                lowest, least = offsets, height
            if least <= bound:
                return lowest, least
    assert least is not None
    return lowest, least


def _by_search(
    problem: native.Problem,
    best: list[int],
    height: int,
    bound: int,
    enough: int,
    steps: int,
) -> tuple[list[int], int, int]:
    """Better offsets, their height, and the height below which there are none."""
    step = _step(problem)
    proved, target, failed = bound, enough, enough
    while height > enough:
        answer = problem.search(target, steps)
        if isinstance(answer, list):
            best, height = answer, _height(problem, answer)
        else:
            failed = target // step * step
            proved = proved if answer else (target // step + 1) * step
        target = failed + (height - failed) // (2 * step) * step
        if target == failed:
            break
        steps = max(steps // 2, _FEWEST_STEPS)
    return best, height, proved


def _step(problem: native.Problem) -> int:
    """Every height that buffers on top of each other can have is a multiple of it."""
    sizes = [of.padded(buffer) for buffer in problem.buffers]
    aligns = {buffer.align for buffer in problem.buffers}
    return math.gcd(*sizes, *(aligns if len(aligns) > 1 else ()))
