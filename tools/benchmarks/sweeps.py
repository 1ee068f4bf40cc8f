# SPDX-License-Identifier: Apache-2.0
"""What sweeps cost beside the emulators' work, and what a second worker gains."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ember import boards, paths
from ember.cases import Found
from ember.sweep import cluster, content, points
from ember.sweep.points import Batch, Member
from ember.sweep.settings import Option
from ember.sweep.work import PointResult

BOARDS = ("mps2-an386", "mps3-an547", "qemu-a64-sme")
_CASES = "op_*"  # of tests/cases: small ones
_OPTIONS = [
    f"{{optimize: {goal}, rows: {rows}}}"
    for goal in ("size", "speed")
    for rows in ("off", "smallest")
]
_BATCH = 64  # cases, as `batch` of a SWEEP.yaml is if it does not say


@dataclass(frozen=True)
class SweepCost:
    """`each_s`: processor seconds of a case in `ember test`, by board. `alone_s` and
    `together_s`: a sweep of them by one worker and by two. `task_s`: processor seconds
    of a task of `tasks` beside its work; `batch_s`: what a batch of cases works."""

    each_s: dict[str, float]
    alone_s: float
    together_s: float
    tasks: int
    task_s: float
    batch_s: float


def measure(folder: Path, tasks: int) -> SweepCost:
    found = sorted((paths.root() / "tests" / "cases").glob(_CASES))
    each = {board: _tested(found, board) for board in BOARDS}
    file = folder / "sweep.yaml"
    patterns = paths.root() / "tests" / "cases" / _CASES
    file.write_text(
        f"programs: ['{patterns}']\nboards: [{', '.join(BOARDS)}]\n"
        f"options: [{', '.join(_OPTIONS)}]\n",
        encoding="utf-8",
    )
    _swept(file, 2)  # makes libraries and runners
    alone, together = _swept(file, 1), _swept(file, 2)
    batch_s = _BATCH * sum(each.values()) / len(each)
    return SweepCost(each, alone, together, tasks, _nothings(found[0], tasks), batch_s)


def _tested(found: list[Path], board: str) -> float:
    words = [*map(str, found), "--board", board, "--jobs", "1"]
    _ember("test", *words)  # makes the library
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _ember("test", *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent / len(found)


def _swept(file: Path, workers: int) -> float:
    """Seconds between the start of a sweep, its cluster included, and its end."""
    begin = time.monotonic()
    _ember("sweep", str(file), "--again", "--workers", str(workers))
    return time.monotonic() - begin


def _ember(*words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "ember", *words], check=True, stdout=subprocess.DEVNULL
    )


def nothing(batch: Batch) -> list[PointResult]:
    """A task without work; workers import it."""
    return [PointResult(member.key, "passed", "") for member in batch.members]


def _nothings(case: Path, tasks: int) -> float:
    """Processor seconds of a task that does nothing: client, scheduler, worker."""
    known = content.of(Found(case.name, case))
    board, sdk = boards.load(BOARDS[0]), points.sdk_digest()
    batches = [
        Batch(board, Option(), False, None, sdk, (Member(str(i), "", known.digest),))
        for i in range(tasks)
    ]
    got: list[str] = []
    begin, old = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with cluster.connected(None, 2) as client:
        cluster.run(
            client,
            batches,
            {known.digest: known},
            lambda results: got.extend(result.key for result in results),
            nothing,
        )
    new = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert sorted(got) == sorted(str(i) for i in range(tasks)), "a task was lost"
    workers = new.ru_utime + new.ru_stime - old.ru_utime - old.ru_stime
    return (time.process_time() - begin + workers) / tasks
