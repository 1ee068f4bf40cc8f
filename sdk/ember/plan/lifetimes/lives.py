"""Bases become their lives: the instructions at which the bytes of each matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ember.plan.lifetimes.bases import Bases
from ember.plan.lifetimes.pieces import Pieces


class Lives:
    """Of values whose storages are `base`. A move takes its handle along, or copies."""

    def __init__(
        self, bases: Bases, base: Mapping[int, int], *, copies: bool = False
    ) -> None:
        self.flow = bases.flow
        self.bases = bases
        self.base = base
        self.pieces = self._pieces()
        self.holds = self._handles(copies)

    def _pieces(self) -> Pieces:
        groups: dict[int, dict[int, tuple[int, int]]] = {}
        for value, base in self.base.items():
            groups.setdefault(base, {})[value] = self.bases.inside(value)
        return Pieces.of(groups)

    # ---- handles -----------------------------------------------------------------

    def _handles(self, copies: bool) -> list[dict[int, frozenset[int]]]:
        """Before each instruction, and at the exit: of each base whose handle moves
        the bases that it may lie in."""
        pairs = [
            [(self.base[target], self.base[source]) for target, source in own.handles]
            for own in self.flow.effects
        ]
        moved = [[(a, b) for a, b in own if a != b and not copies] for own in pairs]
        targets = {target for own in moved for target, _ in own}
        found: list[dict[int, frozenset[int]]]
        found = [{} for _ in range(self.flow.count + 1)]
        found[0] = {target: frozenset({target}) for target in targets}
        waiting = [0] if targets else []
        while waiting:
            index = waiting.pop()
            after = dict(found[index])
            for target, source in moved[index]:
                held = after.get(source, frozenset({source}))
                after[target] = held | {target}
            for successor in self.flow.successors[index]:
                joined = _joined(found[successor], after)
                if joined != found[successor]:
                    found[successor] = joined
                    if successor < self.flow.count:
                        waiting.append(successor)
        return found

    def _held(self, bases: Iterable[int], index: int) -> frozenset[int]:
        """Where bases may lie just before instruction `index`."""
        holds = self.holds[index]
        found: set[int] = set()
        for base in bases:
            found |= holds.get(base, frozenset({base}))
        return frozenset(found)

    def bases_of(self, values: Iterable[int]) -> frozenset[int]:
        return frozenset(self.base[value] for value in values if value in self.base)

    # ---- liveness ----------------------------------------------------------------

    def points(self) -> tuple[dict[int, frozenset[int]], frozenset[int]]:
        """When each base matters, and which do at the entry."""
        needed = self._needed()
        at_entry = self._held(needed[0], 0)
        points: dict[int, set[int]] = {}

        def note(bases: Iterable[int], point: int) -> None:
            for base in bases:
                points.setdefault(base, set()).add(point)

        note(self.bases_of(self.flow.method.inputs) | at_entry, -1)
        note(self._held(needed[self.flow.count], self.flow.count), self.flow.count)
        for index, own in enumerate(self.flow.effects):
            touched = self.bases_of((*own.touched, *self._read(index)))
            note(self._held(touched, index), index)
            note(self._alive_after(index, needed), index)
        return {base: frozenset(own) for base, own in points.items()}, at_entry

    def _needed(self) -> list[frozenset[int]]:
        """Bases whose content matters before each instruction; last: at the exit."""
        bits = self.pieces.bits
        before = [0] * (self.flow.count + 1)
        before[self.flow.count] = bits(self.flow.method.outputs)
        read = [bits(self._read(index)) for index in range(self.flow.count)]
        kept = [~bits(own.writes) for own in self.flow.effects]
        changed = True
        while changed:
            changed = False
            for index in reversed(range(self.flow.count)):
                now = read[index]
                for after in self.flow.successors[index]:
                    now |= before[after] & kept[index]
                changed = changed or now != before[index]
                before[index] = now
        return list(self.pieces.bases(before))

    def _read(self, index: int) -> Iterator[int]:
        own = self.flow.effects[index]
        yield from own.reads
        yield from own.updates
        yield from (source for _, source in own.handles)

    def _alive_after(self, index: int, needed: list[frozenset[int]]) -> frozenset[int]:
        """Bases whose bytes matter after an instruction, wherever handles lead."""
        return frozenset[int]().union(
            *(self._held(needed[n], n) for n in self.flow.successors[index])
        )

    # ---- the program's own plan --------------------------------------------------

    def conflict(self) -> str | None:
        """What the program's own plan destroys, in one sentence."""
        name = self.flow.method.name
        needed = self._needed()
        for index, own in enumerate(self.flow.effects):
            moved = {target for target, _ in own.handles}
            bases = self.bases_of((own.writes | own.updates) - moved)
            written = self._held(bases, index)
            for victim in sorted(self._alive_after(index, needed) - written):
                for base in sorted(written):
                    if self.bases.meet(base, victim):
                        return (
                            f"{name}, instruction {index}: value {base}"
                            f" overwrites value {victim}, which is needed later"
                        )
        return None


def _joined(
    one: dict[int, frozenset[int]], other: dict[int, frozenset[int]]
) -> dict[int, frozenset[int]]:
    empty = frozenset[int]()
    return {key: one.get(key, empty) | other.get(key, empty) for key in {*one, *other}}
