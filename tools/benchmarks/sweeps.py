# SPDX-License-Identifier: Apache-2.0
"""What sweeps cost beside the emulators' work, and what a second worker gains."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from committed_cases import PROGRAMS

from ember import boards
from ember.cases import Found
from ember.sweep import cluster, points
from ember.sweep.points import Batch, Member
from ember.sweep.settings import Option, Sweep
from ember.sweep.work import PointResult

BOARDS = ("mps2-an386", "mps3-an547", "qemu-a64-sme")
_CASES = "op_*.bpte"  # of tests/cases: small ones
_OPTIONS = [
    f"{{optimize: {goal}, rows: {rows}}}"
    for goal in ("size", "speed")
    for rows in ("off", "smallest")
]


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
    files = sorted(PROGRAMS.glob(_CASES))
    each = {board: _tested(files, board) for board in BOARDS}
    file = folder / "sweep.yaml"
    file.write_text(
        f"programs: ['{PROGRAMS / _CASES}']\nboards: [{', '.join(BOARDS)}]\n"
        f"options: [{', '.join(_OPTIONS)}]\n",
        encoding="utf-8",
    )
    _swept(file, 2)  # makes libraries and runners
    single, together = _swept(file, 1), _swept(file, 2)
    cases = Sweep.model_fields["batch"].default
    batch_s = cases * sum(each.values()) / len(each)
    return SweepCost(each, single, together, tasks, _nothings(files[0], tasks), batch_s)


def _tested(files: list[Path], board: str) -> float:
    words = [*map(str, files), "--board", board, "--jobs", "1"]
    _ember("test", *words)  # makes the library
    before = _spent()
    _ember("test", *words)
    return (_spent() - before) / len(files)


def _spent() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    times = os.times()
    return sum(times[:4])


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
    known = points.content_of(Found(case.name, case))
    board, sdk = boards.load(BOARDS[0]), points.sdk_digest()
    batches = [
        Batch(board, Option(), False, None, sdk, (Member(str(i), "", known.digest),))
        for i in range(tasks)
    ]
    got: list[str] = []
    before = _spent()
    with cluster.connected(None, 2) as client:
        cluster.run(
            client,
            batches,
            {known.digest: known},
            lambda results: got.extend(result.key for result in results),
            nothing,
        )
    assert sorted(got) == sorted(str(i) for i in range(tasks)), "a task was lost"
    return (_spent() - before) / tasks
