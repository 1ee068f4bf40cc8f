"""A batch becomes results: what a worker does."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ember.boards import Board
from ember.cases import Found
from ember.errors import SdkError
from ember.firmware import Options
from ember.plan import passes
from ember.run import baseline, testing
from ember.run.baseline import Figures
from ember.run.testing import Outcome
from ember.sweep import points
from ember.sweep.points import Batch
from ember.sweep.settings import Option

STATUSES = ("passed", "failed", "error")


@dataclass(frozen=True)
class PointResult:
    """The result of one point. None: not counted. `seconds`: its share of the batch."""

    key: str
    status: str  # one of STATUSES
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


def run(
    batch: Batch,
    worker: str,
    fetch: Callable[[str], bytes],
    on_result: Callable[[PointResult], None] = lambda result: None,
) -> list[PointResult]:
    """The results of a batch, in order; `on_result` gets each one immediately. Raises
    SdkError if nothing can run."""
    if points.sdk_digest() != batch.sdk:
        raise SdkError(
            f"the worker {worker} has another version of Ember than the host",
            hint="install the same one everywhere",
        )
    board, option = batch.board, batch.option
    locations = [
        Found(member.key, points.unpacked(member.digest, _of(fetch, member.digest)))
        for member in batch.members
    ]
    began = time.monotonic()
    outcomes = _tested(locations, board, option, batch.timeout_s)
    shared = (time.monotonic() - began) / len(batch.members)
    results = []
    for outcome in outcomes:
        began = time.monotonic()
        result = _result(outcome, batch)
        seconds = shared + time.monotonic() - began
        results.append(replace(result, seconds=seconds, worker=worker))
        on_result(results[-1])
    return results


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


def _figures(outcome: Outcome, batch: Batch) -> Figures:
    """The sizes and counts of firmware for the case. Raises SdkError if it cannot be
    built."""
    option = batch.option
    options = Options(
        optimize=option.optimize,
        passes=passes.default(option.optimize),
        rows=option.rows,
    )
    with tempfile.TemporaryDirectory(prefix="ember-sweep-") as folder:
        out = Path(folder) / "build"
        return baseline.measure(
            outcome, options, batch.timeout_s, board=batch.board, out=out
        )


def _result(outcome: Outcome, batch: Batch) -> PointResult:
    """A result; a batch that measures drops the figures of programs as exported."""
    common = PointResult(
        *(outcome.name, outcome.status, outcome.message, outcome.max_abs_diff)
    )
    if not batch.measure:
        return replace(common, instructions=outcome.first)
    if outcome.status != "passed":
        return common
    try:
        figures = _figures(outcome, batch)
    except SdkError as error:
        said = f"measuring: {' '.join(error.what.split())}"
        return replace(common, status="error", message=said)
    return replace(
        common,
        instructions=figures.instructions,
        load=figures.load,
        cycles=figures.cycles,
        ram=figures.ram,
        flash=figures.flash,
        outputs=figures.outputs,
    )
