"""Two runs become what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ember.run.baseline import COUNTED
from ember.sweep.results import PointRow


@dataclass(frozen=True)
class Difference:
    """A fact of a point that is another than before."""

    row: PointRow
    fact: str  # status, outputs, or a figure
    before: str | int
    after: str | int

    @property
    def growth(self) -> float | None:
        """Of a figure, as a share; None for what is no number."""
        if isinstance(self.before, str) or isinstance(self.after, str):
            return None
        return (self.after - self.before) / self.before if self.before else float("inf")

    @property
    def is_worse(self) -> bool:
        if self.fact == "status":
            return self.after != "passed"
        return self.growth is None or self.growth > 0


@dataclass(frozen=True)
class SweepChanges:
    """`new` and `gone`: points that one of the runs does not have."""

    differences: tuple[Difference, ...]  # the worst first
    new: int
    gone: int


def compare(before: Sequence[PointRow], after: Sequence[PointRow]) -> SweepChanges:
    """Points are the same if program, board and options have the same names."""
    old = {row.place: row for row in before}
    both = [(old[row.place], row) for row in after if row.place in old]
    differences = [change for pair in both for change in _of(*pair)]
    differences.sort(key=_order)
    return SweepChanges(
        tuple(differences), len(after) - len(both), len(old) - len(both)
    )


def _of(old: PointRow, new: PointRow) -> list[Difference]:
    if old.result.key == new.result.key:
        return []
    facts = ("status", *COUNTED, "outputs")
    pairs = [
        (fact, getattr(old.result, fact), getattr(new.result, fact)) for fact in facts
    ]
    return [
        Difference(new, fact, before, after)
        for fact, before, after in pairs
        if before != after and before is not None and after is not None
    ]


def _order(change: Difference) -> tuple[bool, bool, float]:
    return not change.is_worse, change.growth is not None, -(change.growth or 0)
