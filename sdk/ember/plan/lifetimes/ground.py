"""Bases that matter and where they lie become what a write would destroy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ember.plan.lifetimes.bases import Bases


class Ground:
    """The planned memories of a program, as it planned them, at one moment."""

    def __init__(self, bases: Bases, base: Mapping[int, int]) -> None:
        self.bases = bases
        import numpy as np

        of_base = (
            (base_value, bases.places[base_value])
            for base_value in sorted(set(base.values()))
        )
        places = [
            (base_value, *place) for base_value, place in of_base if place is not None
        ]
        self.number = {
            base_value: number for number, (base_value, *_) in enumerate(places)
        }
        self.table = np.array(places, np.int64).reshape(-1, 4)
        self.alive = np.zeros(len(places), np.bool_)

    def change(self, alive: Mapping[int, bool]) -> None:
        for base, now in alive.items():
            if base in self.number:
                self.alive[self.number[base]] = now

    def hit(
        self, written: frozenset[int], more: Iterable[int]
    ) -> tuple[int, int] | None:
        """What is written over what: the first victim, of those that are alive and
        `more`, and the first base that meets it."""
        victims = {below for base in written for below in self._under(base)} | set(more)
        for victim in sorted(victims - written):
            for base in sorted(written):
                if self.bases.meet(base, victim):
                    return base, victim
        return None

    def _under(self, base: int) -> list[int]:
        """Bases that are alive and share a byte with this one."""
        place = self.bases.places[base]
        if place is None:
            return []
        memory, start, end = place
        _, memories, starts, ends = self.table.T
        here = self.alive & (memories == memory) & (starts < end) & (ends > start)
        return [int(self.table[number, 0]) for number in here.nonzero()[0]]
