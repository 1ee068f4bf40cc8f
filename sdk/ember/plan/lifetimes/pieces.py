"""Storages are cut where their values start or end; sets of the pieces are bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Pieces:
    of_value: Mapping[int, int]
    of_base: Mapping[int, int]
    base: list[int]  # of each bit

    @staticmethod
    def of(groups: Mapping[int, Mapping[int, tuple[int, int]]]) -> Pieces:
        """By base: where its values start and end."""
        of_value: dict[int, int] = {}
        of_base: dict[int, int] = {}
        bases: list[int] = []
        for base, spans in groups.items():
            starts = sorted({cut for span in spans.values() for cut in span})[:-1]
            first = len(bases)
            bases += [base] * len(starts)
            of_base[base] = ((1 << len(starts)) - 1) << first
            number = {start: first + n for n, start in enumerate(starts)}
            for value, (start, end) in spans.items():
                low, high = number.get(start, 0), number.get(end, len(bases))
                of_value[value] = (1 << high) - (1 << low) if start < end else 0
        return Pieces(of_value, of_base, bases)

    def bits(self, values: Iterable[int]) -> int:
        found = 0
        for value in values:
            found |= self.of_value.get(value, 0)
        return found

    def bases(self, sets: Iterable[int]) -> Iterator[frozenset[int]]:
        """The bases of which there is a piece in each set."""
        before, found = 0, frozenset[int]()
        for now in sets:
            if now != before:
                changed = {self.base[bit] for bit in _ones(now ^ before)}
                here = {base for base in changed if self.of_base[base] & now}
                found = (found - changed) | here
                before = now
            yield found


def _ones(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
