"""SWEEP.yaml becomes results: missing ones are computed and stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ember import progress
from ember.output import counted
from ember.sweep import cluster, points, settings, sources
from ember.sweep.points import Point
from ember.sweep.results import PointRow, Results, SweepRun
from ember.sweep.settings import Sweep
from ember.sweep.work import PointResult


@dataclass(frozen=True)
class SweepOrder:
    """What the command line says besides the file."""

    name: str | None = None  # of the run; None: the time
    again: bool = False  # what is known, too
    scheduler: str | None = None  # None: a cluster on the host
    workers: int | None = None  # of that; None: one a processor


@dataclass(frozen=True)
class Planned:
    """A sweep, before anything is run."""

    settings: Sweep
    points: tuple[Point, ...]
    refused: int = 0  # seeds of which the exporter took no graph


OnResult = Callable[[Point, PointResult], None]


def planned(path: Path, workers: int | None = None) -> Planned:
    """What a SWEEP.yaml asks for; models and graphs are exported by `workers`
    processes. Raises SdkError if the file is wrong or a case is missing."""
    chosen = settings.read(path)
    boards = points.loaded(chosen)
    programs = [
        *settings.programs(chosen, path.parent),
        *sources.exported_models(chosen.models, path.parent, workers),
    ]
    if chosen.graphs is None:
        return Planned(chosen, tuple(points.points(chosen, boards, programs)))
    exports = sources.exported(sources.seeds(chosen.graphs), workers)
    given = points.points(chosen, boards, [*programs, *exports.cases])
    return Planned(chosen, tuple(given), exports.refused)


def sweep(
    plan: Planned,
    results: Results,
    asked: SweepOrder,
    on_result: OnResult,
    say: Callable[[str], None],
) -> SweepRun:
    """Computes what `results` lacks; the run, with all of its results stored."""
    chosen, given = plan.settings, plan.points
    known = set() if asked.again else results.known(given)
    todo = list(points.batches(given, known, chosen))
    name = asked.name or datetime.now().astimezone().isoformat(timespec="seconds")
    results.begin(name, points.sdk_digest(), chosen.text, given)
    count = sum(len(batch.members) for batch in todo)
    say(_plan(given, count, plan.refused))
    if todo:
        by_key = {point.key: point for point in given}
        contents = {point.content.digest: point.content for point in given}
        with (
            cluster.connected(asked.scheduler, asked.workers) as client,
            progress.doing("running points") as step,
        ):
            say(_cluster(client))
            step.of(0, count)
            stored: set[str] = set()
            lock = threading.Lock()

            def store(part: list[PointResult]) -> None:
                with lock:
                    new = [result for result in part if result.key not in stored]
                    if not new:
                        return
                    results.add(new)
                    stored.update(result.key for result in new)
                    step.of(len(stored), count)
                    for result in new:
                        on_result(by_key[result.key], result)

            try:
                cluster.run(client, todo, contents, store)
            except KeyboardInterrupt:
                kept = f"{len(stored):,} of {counted(count, 'point')} stored"
                say(f"{kept}: the same command goes on with the others")
                raise
    results.end(name)
    return results.run(name)


_MOST_SHRUNK = 10  # graphs of a run: others often differ for the same reason


def shrunk(
    plan: Planned, rows: Sequence[PointRow], folder: Path, workers: int | None
) -> Iterator[str]:
    """Writes the smallest part of each graph that differs below `folder`, as a case; a
    sentence about it."""
    if plan.settings.graphs is None:
        return
    seeds = {seed.name: seed for seed in sources.seeds(plan.settings.graphs)}
    wrong = {
        row.place
        for row in rows
        if row.program in seeds and row.result.status != "passed"
    }
    firsts: dict[str, Point] = {}  # of each graph: where it differs first
    for point in plan.points:
        if (point.program, point.board.name, point.option.text) in wrong:
            firsts.setdefault(point.program, point)
    chosen = list(firsts.values())[:_MOST_SHRUNK]
    tasks = [
        sources.Mismatch(
            seeds[point.program],
            point.board,
            point.option,
            plan.settings.timeout,
            folder / f"{point.program}-{point.board.name}",
        )
        for point in chosen
    ]
    for mismatch, text in sources.shrunk(tasks, workers) if tasks else ():
        yield f"{mismatch.folder} differs:"
        yield from text.splitlines()
    if len(firsts) > len(chosen):
        more = counted(len(firsts) - len(chosen), "graph")
        yield f"{more} more differ and were not shrunk"


def _plan(given: Sequence[Point], todo: int, refused: int) -> str:
    distinct = len({point.key for point in given})
    text = counted(len(given), "point")
    if refused:
        text += f" (the exporter refused {counted(refused, 'seed')})"
    if todo < distinct:
        text += f", {distinct - todo:,} known already"
    return text


def _cluster(client: Any) -> str:
    workers = counted(len(client.scheduler_info()["workers"]), "worker")
    address = client.dashboard_link if cluster.has_dashboard() else ""
    return f"{workers} of {client.scheduler.address}{f', {address}' if address else ''}"
