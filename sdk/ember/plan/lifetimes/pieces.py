"""Storages are cut where their values start or end; sets of the pieces are bits."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

Span = tuple[int, int]  # the first bit, and the one behind the last


@dataclass(frozen=True)
class Pieces:
    of_value: Mapping[int, Span]
    of_base: Mapping[int, Span]
    base: list[int]  # of each bit

    @staticmethod
    def of(groups: Mapping[int, Mapping[int, tuple[int, int]]]) -> Pieces:
        """By base: where its values start and end."""
        of_value: dict[int, Span] = {}
        of_base: dict[int, Span] = {}
        bases: list[int] = []
        for base, spans in groups.items():
            starts = sorted({cut for span in spans.values() for cut in span})[:-1]
            first = len(bases)
            bases += [base] * len(starts)
            of_base[base] = (first, len(bases))
            number = {start: first + n for n, start in enumerate(starts)}
            for value, (start, end) in spans.items():
                low, high = number.get(start, 0), number.get(end, len(bases))
                of_value[value] = (low, high) if start < end else (low, low)
        return Pieces(of_value, of_base, bases)

    def bits(self, values: Iterable[int]) -> int:
        bits = 0
        for value in values:
            if value in self.of_value:
                bits |= _bits(self.of_value[value])
        return bits

    def has(self, bits: int, base: int) -> bool:
        """Whether a piece of a base is in a set."""
        return base in self.of_base and bool(bits & _bits(self.of_base[base]))

    def bases(self, bits: int) -> frozenset[int]:
        """The bases with a piece in the set."""
        return frozenset(self.base[bit] for bit in _ones(bits))

    def changes(self, sets: Iterable[int]) -> Iterator[dict[int, bool]]:
        """Of each set the bases that have a piece in it and had none in the one before,
        and those of which the opposite is true."""
        before = 0
        for now in sets:
            touched = {self.base[bit] for bit in _ones(before ^ now)}
            states = ((base, _bits(self.of_base[base])) for base in touched)
            yield {
                base: bool(bits & now)
                for base, bits in states
                if bool(bits & now) != bool(bits & before)
            }
            before = now

    def runs(self, sets: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        """Base, number of the first set that has a piece of it, and of the next one
        that has none."""
        began: dict[int, int] = {}
        for number, changed in enumerate(self.changes(itertools.chain(sets, [0]))):
            for base, alive in changed.items():
                if alive:
                    began[base] = number
                else:
                    yield base, began.pop(base), number


class Sets(Sequence[int]):
    """Sets of pieces in a row, to be read from one to the next.

    Each is kept as what it differs in from its neighbour: whole, those of a large
    program would take its square in memory.
    """

    def __init__(self, backwards: Iterable[int]) -> None:
        """Of the sets, the last one first."""
        self._changes: list[tuple[int, int]] = []  # to the next: zeros, bits above them
        last: int | None = None
        now = 0
        for before in backwards:
            if last is None:
                last = before
            else:
                changed = before ^ now
                zeros = max(0, (changed & -changed).bit_length() - 1)
                self._changes.append((zeros, changed >> zeros))
            now = before
        self._changes.reverse()
        self._ends = {0: now, len(self._changes): last or 0}
        self._at, self._now = 0, now

    def __len__(self) -> int:
        return len(self._changes) + 1

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...

    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if index in self._ends:
            return self._ends[index]
        between = range(min(index, self._at), max(index, self._at))
        for change in between:
            zeros, changed = self._changes[change]
            self._now ^= changed << zeros
        self._at = index
        return self._now


def _bits(span: Span) -> int:
    """Made when it is needed: all of a large program take its square in memory."""
    low, high = span
    return ((1 << (high - low)) - 1) << low


def _ones(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
