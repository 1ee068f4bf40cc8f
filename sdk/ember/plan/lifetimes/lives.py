"""Bases become their lives: the instructions at which the bytes of each matter."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ember.plan.lifetimes.bases import Bases
from ember.plan.lifetimes.ground import Ground
from ember.plan.lifetimes.pieces import Pieces, Sets
from ember.plan.offsets.moments import Moments, Run
from ember.plan.rows import row_regions


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
            [
                (self.base[target], self.base[source])
                for target, source in effect.handles
            ]
            for effect in self.flow.effects
        ]
        moved = [
            [(a, b) for a, b in handles if a != b and not copies] for handles in pairs
        ]
        targets = {target for handles in moved for target, _ in handles}
        if not targets:
            return [{}] * (self.flow.count + 1)
        states: list[dict[int, frozenset[int]]]
        states = [{} for _ in range(self.flow.count + 1)]
        states[0] = {target: frozenset({target}) for target in targets}
        waiting = [0]
        while waiting:
            index = waiting.pop()
            after = dict(states[index])
            for target, source in moved[index]:
                held = after.get(source, frozenset({source}))
                after[target] = held | {target}
            for successor in self.flow.successors[index]:
                joined = _joined(states[successor], after)
                if joined != states[successor]:
                    states[successor] = joined
                    if successor < self.flow.count:
                        waiting.append(successor)
        return states

    def _held(self, bases: Iterable[int], index: int) -> frozenset[int]:
        """Where bases may lie just before instruction `index`."""
        holds = self.holds[index]
        held: set[int] = set()
        for base in bases:
            held |= holds.get(base, frozenset({base}))
        return frozenset(held)

    def bases_of(self, values: Iterable[int]) -> frozenset[int]:
        return frozenset(self.base[value] for value in values if value in self.base)

    # ---- liveness ----------------------------------------------------------------

    def points(self) -> tuple[dict[int, Moments], frozenset[int]]:
        """When each base matters, and which do at the entry."""
        needed = self._needed()
        at_entry = self._held(self.pieces.bases(needed[0]), 0)
        runs: dict[int, list[Run]] = {}

        def note(bases: Iterable[int], first: int, end: int) -> None:
            for base in bases:
                runs.setdefault(base, []).append((first, end))

        note(self.bases_of(self.flow.method.inputs) | at_entry, -1, 0)
        for index, effect in enumerate(self.flow.effects):
            touched = self.bases_of((*effect.touched, *self._read(index)))
            note(self._held(touched, index), index, index + 1)
            note(self._led_to(index, needed), index, index + 1)
        exit_ = self.flow.count
        note(self._held(self.pieces.bases(needed[exit_]), exit_), exit_, exit_ + 1)
        for base, first, end in self.pieces.runs(self._after(needed)):
            note((base,), first - 1, end - 1)
        return {base: Moments.of_runs(run) for base, run in runs.items()}, at_entry

    def _needed(self) -> Sequence[int]:
        """Pieces whose content matters before each instruction; last: at the exit."""
        bits = self.pieces.bits
        at_exit = bits(self.flow.method.outputs)
        if self.flow.is_straight:
            return Sets(self._backwards(at_exit))
        before = [0] * (self.flow.count + 1)
        before[self.flow.count] = at_exit
        changed = True
        while changed:
            changed = False
            for index in reversed(range(self.flow.count)):
                kept = ~bits(self.flow.effects[index].writes)
                now = bits(self._read(index))
                for after in self.flow.successors[index]:
                    now |= before[after] & kept
                if now != before[index]:
                    before[index] = now
                    changed = True
        return before

    def _backwards(self, now: int) -> Iterator[int]:
        """Those of _needed(), the last first, where no instruction jumps."""
        yield now
        for index in reversed(range(self.flow.count)):
            now &= ~self.pieces.bits(self.flow.effects[index].writes)
            now |= self.pieces.bits(self._read(index))
            yield now

    def _read(self, index: int) -> Iterator[int]:
        effect = self.flow.effects[index]
        yield from effect.reads
        yield from effect.updates
        yield from (source for _, source in effect.handles)

    def _after(self, needed: Sequence[int]) -> Iterator[int]:
        """Pieces that matter after the entry and after each instruction, where no
        handle moves."""
        yield needed[0]
        for successors in self.flow.successors:
            bits = 0
            for successor in successors:
                bits |= needed[successor]
            yield bits

    def _led_to(self, index: int, needed: Sequence[int]) -> set[int]:
        """Bases whose bytes matter after an instruction because handles lead there."""
        reached: set[int] = set()
        for after in self.flow.successors[index]:
            for target, bases in self.holds[after].items():
                if self.pieces.has(needed[after], target):
                    reached |= bases
        return reached

    # ---- the program's own plan --------------------------------------------------

    def conflict(self) -> str | None:
        """What the program's own plan destroys, in one sentence."""
        needed = self._needed()
        ground = Ground(self.bases, self.base)
        after = itertools.islice(self._after(needed), 1, None)
        alive = self.pieces.changes(after)
        begins = {region.enter for region in row_regions.regions(self.flow.method)}
        for index, effect in enumerate(self.flow.effects):
            ground.change(next(alive))
            if index in begins:
                continue  # outputs may lie over inputs there
            moved = {target for target, _ in effect.handles}
            bases = self.bases_of((effect.writes | effect.updates) - moved)
            written = self._held(bases, index)
            hit = ground.hit(written, self._led_to(index, needed))
            if hit is not None:
                base, victim = hit
                return (
                    f"{self.flow.method.name}, instruction {index}: value {base}"
                    f" overwrites value {victim}, which is needed later"
                )
        return None


def _joined(
    this: dict[int, frozenset[int]], other: dict[int, frozenset[int]]
) -> dict[int, frozenset[int]]:
    empty = frozenset[int]()
    return {
        key: this.get(key, empty) | other.get(key, empty) for key in {*this, *other}
    }
