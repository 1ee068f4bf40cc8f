"""Runs of sweeps become what differs between two of them, and figures over all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ember.errors import SdkError
from ember.run.baseline import COUNTED
from ember.sweep.results import PointRow, Results, SweepRun
from ember.sweep.work import PointResult

# ---- two runs ------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A fact of a point that changed."""

    row: PointRow
    fact: str  # status, outputs, or a figure
    before: str | int
    after: str | int

    @property
    def growth(self) -> float | None:
        """The growth of a figure as a share; None for what is not a number."""
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
    """What differs between runs. `new` and `gone`: points that only one run has."""

    differences: tuple[Difference, ...]  # the worst first
    new: int
    gone: int


def compare(before: Sequence[PointRow], after: Sequence[PointRow]) -> SweepChanges:
    """Compares runs; the same point has equal names of program, board and options."""
    old = {row.place: row for row in before}
    both = [(old[row.place], row) for row in after if row.place in old]
    differences = [change for pair in both for change in _differences(*pair)]
    differences.sort(key=_order)
    return SweepChanges(
        tuple(differences), len(after) - len(both), len(old) - len(both)
    )


def _differences(old: PointRow, new: PointRow) -> list[Difference]:
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


# ---- all runs ------------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    """A case in a run."""

    run: SweepRun
    content: str  # a digest of the case's files; '': not recorded
    result: PointResult

    def changes(self, before: Moment) -> tuple[str, ...]:
        """What changed since `before`: the model, the SDK, or both."""
        contents = {self.content, before.content}
        is_other_model = len(contents) > 1 and "" not in contents
        is_other_sdk = self.run.sdk != before.run.sdk
        pairs = (("model", is_other_model), ("SDK", is_other_sdk))
        return tuple(name for name, is_other in pairs if is_other)


@dataclass(frozen=True)
class Course:
    """A program on a board with options, in every run that has it."""

    program: str
    board: str
    options: str
    moments: tuple[Moment, ...]

    def figures(self, name: str) -> list[int | None]:
        return [getattr(moment.result, name) for moment in self.moments]

    @property
    def changes(self) -> list[tuple[str, ...]]:
        """What changed before each moment; empty for the first."""
        pairs = pairwise(self.moments)
        return [(), *(moment.changes(before) for before, moment in pairs)]

    @property
    def moves(self) -> bool:
        """Whether a figure or the status ever changed."""
        facts = ("status", *COUNTED)
        return any(
            len({getattr(moment.result, fact) for moment in self.moments} - {None}) > 1
            for fact in facts
        )


def read(paths: Sequence[Path], wanted: Callable[[PointRow], bool]) -> list[Course]:
    """The courses of all results in the files. Raises SdkError if none is wanted."""
    held: dict[tuple[str, str, str], list[Moment]] = {}
    for run, rows in sorted(_runs(paths), key=lambda pair: pair[0].began):
        for row in rows:
            if wanted(row):
                held.setdefault(row.place, []).append(
                    Moment(run, row.content, row.result)
                )
    if not held:
        names = ", ".join(map(str, paths))
        raise SdkError(f"{names}: there are no results of such programs and boards")
    return [Course(*place, tuple(moments)) for place, moments in held.items()]


def _runs(paths: Sequence[Path]) -> list[tuple[SweepRun, list[PointRow]]]:
    pairs = []
    for path in paths:
        results = Results(path, new=False)
        pairs += [(run, results.rows(run)) for run in results.runs()]
        results.close()
    return pairs
