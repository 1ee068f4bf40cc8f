"""Runs of sweeps become rows of figures of a case, the oldest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.errors import SdkError
from ember.run.baseline import COUNTED
from ember.sweep.results import PointRow, Results, SweepRun
from ember.sweep.work import PointResult


@dataclass(frozen=True)
class Moment:
    """A case in a run."""

    run: SweepRun
    result: PointResult


@dataclass(frozen=True)
class Course:
    """A program on a board with options, in each run that has it."""

    program: str
    board: str
    options: str
    moments: tuple[Moment, ...]

    def figures(self, name: str) -> list[int | None]:
        return [getattr(moment.result, name) for moment in self.moments]

    @property
    def moves(self) -> bool:
        """Whether a figure or the status is not always the same."""
        facts = ("status", *COUNTED)
        return any(
            len({getattr(moment.result, fact) for moment in self.moments} - {None}) > 1
            for fact in facts
        )


def read(paths: Sequence[Path], wanted: Callable[[PointRow], bool]) -> list[Course]:
    """The courses of what files of results have. SdkError where nothing is wanted."""
    held: dict[tuple[str, str, str], list[Moment]] = {}
    for run, rows in sorted(_runs(paths), key=lambda pair: pair[0].began):
        for row in rows:
            if wanted(row):
                held.setdefault(row.place, []).append(Moment(run, row.result))
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
