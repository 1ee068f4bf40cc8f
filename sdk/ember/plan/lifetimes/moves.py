"""Both sides of a move get one storage, where their lives allow it."""

from __future__ import annotations

from collections.abc import Mapping

from ember.plan.lifetimes.bases import Bases
from ember.plan.lifetimes.lives import Lives


def shared(bases: Bases) -> Mapping[int, int]:
    """The base of each value, after moves were joined."""
    if not any(effect.handles for effect in bases.flow.effects):
        return bases.of
    copies = _Copies(bases)
    for index, effect in enumerate(bases.flow.effects):
        for target, source in effect.handles:
            copies.join(index, target, source)
    return copies.base


class _Copies:
    """Bases that moves may join, by their lives when every move is a copy."""

    def __init__(self, bases: Bases) -> None:
        self.base = dict(bases.of)
        self.values: dict[int, list[int]] = {}  # by base
        for value, base in self.base.items():
            self.values.setdefault(base, []).append(value)
        self.moves: dict[int, set[int]] = {}  # base -> moves inside its group
        self.extent = bases.extent
        self.points, at_entry = Lives(bases, bases.of, copies=True).points()
        self.fixed = at_entry.union(bases.of[value] for value in bases.given)

    def join(self, index: int, target: int, source: int) -> None:
        this, other = self.base[target], self.base[source]
        if this == other or not self._are_alike(this, other):
            return
        inside = self.moves.get(this, set()) | self.moves.get(other, set()) | {index}
        if any(at not in inside for at in self.points[this] & self.points[other]):
            return
        self.moves[this] = inside
        self.points[this] = self.points[this].union(self.points[other])
        self.base.update(dict.fromkeys(self.values[other], this))
        self.values[this] += self.values.pop(other)

    def _are_alike(self, this: int, other: int) -> bool:
        """Both are planned in one memory, of one size, and neither inputs nor state."""
        a, b = self.extent.get(this), self.extent.get(other)
        if a is None or b is None or {this, other} & self.fixed:
            return False
        return a[0] == b[0] and a[2] - a[1] == b[2] - b[1]
