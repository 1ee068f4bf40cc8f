"""Buffers with lifetimes become offsets in one memory, with a bound of the best height.

First several orders of first and best fit; if they miss the lower bound, an exhaustive
search at the bound; if that gives up or proves the bound out of reach, the search
halves the gap. Deterministic: effort is counted in steps, not in seconds. First fit and
the search are in C (search.c), compiled at first use.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.errors import SdkError
from ember.plan.offsets.buffers import (
    Buffer,
    Moments,
    Sections,
    lower_bound,
    overlap,
    padded,
    sections,
)
from ember.toolchain import tools

__all__ = ["Buffer", "Moments", "Placement", "lower_bound", "overlap", "place"]


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
    bound = lower_bound(buffers)
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


def _problem(buffers: Sequence[Buffer]) -> tuple[Problem, list[int]]:
    """The buffers that need room, and their numbers."""
    numbers = [
        n for n, buffer in enumerate(buffers) if buffer.size > 0 and buffer.points
    ]
    chosen = [buffers[number] for number in numbers]
    return Problem(chosen, sections(chosen)), numbers


def _height(problem: Problem, offsets: Sequence[int]) -> int:
    ends = (
        offset + padded(buffer)
        for offset, buffer in zip(offsets, problem.buffers, strict=True)
    )
    return max(ends)


def _orders(problem: Problem) -> Iterator[list[int]]:
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


def _by_orders(problem: Problem, bound: int) -> tuple[list[int], int]:
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
    problem: Problem,
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


def _step(problem: Problem) -> int:
    """Every height that buffers on top of each other can have is a multiple of it."""
    sizes = [padded(buffer) for buffer in problem.buffers]
    aligns = {buffer.align for buffer in problem.buffers}
    return math.gcd(*sizes, *(aligns if len(aligns) > 1 else ()))


# ---- the C half ----------------------------------------------------------------------


_FOLDER = Path(__file__).parent
_FOUND, _IMPOSSIBLE, _NO_MEMORY = 1, 0, -2
_Bytes = ctypes.c_int64
_Index = ctypes.c_int32


class _Problem(ctypes.Structure):
    """ember_lives_t of conflicts.h."""

    _fields_ = (
        ("buffers", _Index),
        ("sections", _Index),
        ("size", ctypes.POINTER(_Bytes)),
        ("align", ctypes.POINTER(_Bytes)),
        ("run", ctypes.POINTER(_Index)),
        ("first", ctypes.POINTER(_Index)),
        ("end", ctypes.POINTER(_Index)),
    )


@functools.cache
def _library() -> ctypes.CDLL:
    sources = sorted(_FOLDER.glob("*.c"))
    headers = sorted(_FOLDER.glob("*.h"))
    library = ctypes.CDLL(str(tools.host_library("offsets", sources, headers)))
    library.ember_offsets_search.argtypes = (
        *(ctypes.POINTER(_Problem), ctypes.POINTER(_Index)),
        *(_Bytes, _Bytes, ctypes.POINTER(_Bytes)),
    )
    library.ember_offsets_first_fit.argtypes = (
        *(ctypes.POINTER(_Problem), ctypes.POINTER(_Index)),
        *(ctypes.c_int, ctypes.POINTER(_Bytes)),
    )
    library.ember_offsets_spread.argtypes = (
        *(ctypes.POINTER(_Problem), ctypes.POINTER(_Index), _Index),
        *(ctypes.POINTER(_Bytes), ctypes.POINTER(_Bytes), _Bytes),
        ctypes.POINTER(_Index),
    )
    return library


def _indices(numbers: Sequence[int]) -> ctypes.Array[_Index]:
    return (_Index * (len(numbers) + 1))(*numbers)


def _bytes(numbers: Sequence[int]) -> ctypes.Array[_Bytes]:
    return (_Bytes * (len(numbers) + 1))(*numbers)


class Problem:
    """Buffers that all have a section, as the C code takes them."""

    def __init__(self, buffers: Sequence[Buffer], where: Sections) -> None:
        self.buffers = buffers
        self.where = where
        runs = [run for moments in where.of for run in moments.runs]
        counts = (len(moments.runs) for moments in where.of)
        self._c = _Problem(
            len(buffers),
            where.count,
            _bytes([padded(buffer) for buffer in buffers]),
            _bytes([buffer.align for buffer in buffers]),
            _indices([0, *itertools.accumulate(counts)]),
            _indices([first for first, _ in runs]),
            _indices([end for _, end in runs]),
        )

    def first_fit(self, order: Sequence[int], *, best: bool) -> list[int]:
        """Offsets, each buffer of `order` in the lowest (or smallest) gap."""
        offsets = _bytes([-1 if b.fixed is None else b.fixed for b in self.buffers])
        success = _library().ember_offsets_first_fit(
            ctypes.byref(self._c), _indices(order), best, offsets
        )
        if not success:
            raise SdkError("not enough host memory to place buffers")
        return list(offsets)[:-1]

    def search(self, capacity: int, most_steps: int) -> list[int] | bool:
        """Offsets below `capacity`; False: there are none; True: it gave up."""
        offsets = _bytes([0] * len(self.buffers))
        starts = [moments.runs[0][0] for moments in self.where.of]
        order = sorted(range(len(starts)), key=starts.__getitem__)
        result = _library().ember_offsets_search(
            ctypes.byref(self._c), _indices(order), capacity, most_steps, offsets
        )
        if result == _NO_MEMORY:
            raise SdkError("not enough host memory to place buffers")
        if result == _FOUND:
            return list(offsets)[:-1]
        return bool(result != _IMPOSSIBLE)

    def spread(
        self,
        order: Sequence[int],
        capacities: Sequence[int],
        costs: Sequence[Sequence[int | None]],
        steps: int,
    ) -> list[int]:
        """A memory for each buffer, by its cost there; None: it may not lie there.

        The last memory takes all that may lie there.
        """
        where = _indices([0] * len(self.buffers))
        cells = [-1 if cost is None else cost for row in costs for cost in row]
        status = _library().ember_offsets_spread(
            *(ctypes.byref(self._c), _indices(order), len(capacities)),
            *(_bytes(capacities), _bytes(cells), steps, where),
        )
        if status != _FOUND:
            raise SdkError("not enough host memory to place buffers")
        return list(where)[:-1]
