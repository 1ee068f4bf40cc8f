"""Runs of sweeps become rows of figures of a case, the oldest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ember.errors import SdkError
from ember.run.baseline import COUNTED
from ember.sweep.results import PointRow, Results, SweepRun
from ember.sweep.work import PointResult


@dataclass(frozen=True)
class Moment:
    """A case in a run."""

    run: SweepRun
    content: str  # a digest of the case's files; '': not recorded
    result: PointResult

    def changes(self, before: Moment) -> tuple[str, ...]:
        """What is another version than it was `before`: the model, the SDK, or both."""
        contents = {self.content, before.content}
        is_other_model = len(contents) > 1 and "" not in contents
        is_other_sdk = self.run.sdk != before.run.sdk
        pairs = (("model", is_other_model), ("SDK", is_other_sdk))
        return tuple(name for name, is_other in pairs if is_other)


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
    def changes(self) -> list[tuple[str, ...]]:
        """What changed before each moment; nothing before the first."""
        pairs = pairwise(self.moments)
        return [(), *(moment.changes(before) for before, moment in pairs)]

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
