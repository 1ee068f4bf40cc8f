"""SWEEP.yaml becomes results: what is not known yet is computed and stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ember import progress
from ember.output import counted
from ember.sweep import cluster, points, settings
from ember.sweep.points import Point
from ember.sweep.results import Results, SweepRun
from ember.sweep.settings import Sweep
from ember.sweep.work import PointResult


@dataclass(frozen=True)
class SweepOrder:
    """What the command line says beside the file."""

    name: str | None = None  # of the run; None: the time
    again: bool = False  # what is known, too
    scheduler: str | None = None  # None: a cluster of this computer
    workers: int | None = None  # of that; None: one a processor


@dataclass(frozen=True)
class Planned:
    """A sweep, before anything is run."""

    settings: Sweep
    points: tuple[Point, ...]


OnResult = Callable[[Point, PointResult], None]


def planned(path: Path) -> Planned:
    """What a SWEEP.yaml asks for. SdkError where it is wrong, or a case is missing."""
    chosen = settings.read(path)
    programs = settings.programs(chosen, path.parent)
    return Planned(chosen, tuple(points.points(chosen, programs)))


def sweep(
    plan: Planned,
    results: Results,
    asked: SweepOrder,
    on_result: OnResult,
    say: Callable[[str], None],
) -> SweepRun:
    """Compute what `results` has not got; the run, with all of its results stored."""
    chosen, given = plan.settings, plan.points
    known = set() if asked.again else results.known(given)
    todo = list(points.batches(given, known, chosen))
    name = asked.name or datetime.now().astimezone().isoformat(timespec="seconds")
    results.begin(name, points.sdk_digest(), chosen.text, given)
    count = sum(len(batch.members) for batch in todo)
    say(_plan(given, count))
    if todo:
        by_key = {point.key: point for point in given}
        contents = {point.content.digest: point.content for point in given}
        with (
            cluster.connected(asked.scheduler, asked.workers) as client,
            progress.doing("running points") as step,
        ):
            say(_cluster(client))
            done = 0

            def store(part: list[PointResult]) -> None:
                nonlocal done
                results.add(part)
                done += len(part)
                step.of(done, count)
                for result in part:
                    on_result(by_key[result.key], result)

            cluster.run(client, todo, contents, store)
    results.end(name)
    return results.run(name)


def _plan(given: Sequence[Point], todo: int) -> str:
    distinct = len({point.key for point in given})
    text = counted(len(given), "point")
    if todo < distinct:
        text += f", {distinct - todo:,} known already"
    return text


def _cluster(client: Any) -> str:
    workers = counted(len(client.scheduler_info()["workers"]), "worker")
    address = client.dashboard_link if cluster.has_dashboard() else ""
    return f"{workers} of {client.scheduler.address}{f', {address}' if address else ''}"
