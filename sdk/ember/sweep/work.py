"""A batch becomes results: what a worker does."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ember import build
from ember.boards import Board
from ember.cases import Found
from ember.errors import SdkError
from ember.run import baseline, testing
from ember.run.baseline import Figures
from ember.run.testing import Outcome
from ember.sweep import content, points
from ember.sweep.points import Batch, Member
from ember.sweep.settings import Option


@dataclass(frozen=True)
class PointResult:
    """Of one point; None: nobody counted it. `seconds` are its part of the batch's."""

    key: str
    status: str  # passed, failed, error
    message: str
    max_abs_diff: float | None = None
    instructions: int | None = None
    load: int | None = None
    cycles: int | None = None
    ram: int | None = None
    flash: int | None = None
    outputs: str | None = None  # a digest of their bits
    seconds: float = 0.0
    worker: str = ""


def run(batch: Batch, worker: str, fetch: Callable[[str], bytes]) -> list[PointResult]:
    """The results of a batch, in its order; SdkError where nothing can be run."""
    if points.sdk_digest() != batch.sdk:
        raise SdkError(
            f"the worker {worker} has another version of Ember than this computer",
            hint="install the same one everywhere",
        )
    began = time.monotonic()
    board, option = batch.board, batch.option
    locations = [
        Found(member.key, content.unpacked(member.digest, _of(fetch, member.digest)))
        for member in batch.members
    ]
    outcomes = _tested(locations, board, option, batch.timeout_s)
    figures = [
        _figures(outcome, board, option, batch.timeout_s) if batch.measure else None
        for outcome in outcomes
    ]
    seconds = (time.monotonic() - began) / len(batch.members)
    return [
        _result(*row, seconds, worker)
        for row in zip(batch.members, outcomes, figures, strict=True)
    ]


def failed(batch: Batch, message: str) -> list[PointResult]:
    """The results of a batch that no worker survived."""
    return [PointResult(member.key, "error", message) for member in batch.members]


def _of(fetch: Callable[[str], bytes], digest: str) -> Callable[[], bytes]:
    return lambda: fetch(digest)


def _tested(
    locations: Sequence[Found], board: Board, option: Option, timeout_s: float | None
) -> list[Outcome]:
    settings = testing.Settings(
        timeout_s=timeout_s, optimize=option.optimize, rows=option.rows
    )
    try:
        return testing.test(locations, [board], jobs=1, settings=settings)
    except SdkError as error:  # the board's, not a case's: a compiler that is missing
        said = " ".join(error.what.split())
        return [
            Outcome(item.name, board.name, "error", said, item.path)
            for item in locations
        ]


def _figures(
    outcome: Outcome, board: Board, option: Option, timeout_s: float | None
) -> Figures | SdkError | None:
    """What firmware for the case takes; the error where it cannot be built."""
    if outcome.status != "passed":
        return None
    options = build.Options(optimize=option.optimize, rows=option.rows)
    try:
        with tempfile.TemporaryDirectory(prefix="ember-sweep-") as folder:
            return baseline.measure(
                outcome, options, timeout_s, board=board, out=Path(folder) / "build"
            )
    except SdkError as error:
        return error


def _result(
    member: Member,
    outcome: Outcome,
    figures: Figures | SdkError | None,
    seconds: float,
    worker: str,
) -> PointResult:
    common = PointResult(
        *(member.key, outcome.status, outcome.message, outcome.max_abs_diff),
        instructions=outcome.instructions,
        seconds=seconds,
        worker=worker,
    )
    if isinstance(figures, SdkError):
        said = f"measuring: {' '.join(figures.what.split())}"
        return replace(common, status="error", message=said)
    if figures is None:
        return common
    return replace(
        common,
        instructions=figures.instructions,
        load=figures.load,
        cycles=figures.cycles,
        ram=figures.ram,
        flash=figures.flash,
        outputs=figures.outputs,
    )
