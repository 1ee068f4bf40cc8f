"""Seeds become cases: those in the cache, the others by PyTorch and the exporter.

A case is kept under a hash of what makes it (the modules of ember.sweep.graphs and of
ember.export), the versions of PyTorch and ExecuTorch, its family and its seed. All that
needs PyTorch runs in processes of its own.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ember import kept, paths, progress
from ember.boards import Board
from ember.cases import CASE_FILE, Found
from ember.errors import SdkError
from ember.export.packages import INSTALL, quiet
from ember.run import testing
from ember.sweep.settings import Family, Graphs, Option

_PACKAGES = ("torch", "executorch")
_Result = TypeVar("_Result")
_REFUSED = ".refused"  # instead of a case, with the exporter's reasons


@dataclass(frozen=True)
class Seed:
    """What names a graph."""

    family: Family
    number: int

    @property
    def name(self) -> str:
        return f"{self.family}_{self.number:06}"


@dataclass(frozen=True)
class Exports:
    """Cases of seeds. `refused`: seeds of which the exporter took no graph."""

    cases: tuple[Found, ...]
    refused: int


def seeds(graphs: Graphs) -> list[Seed]:
    families = dict.fromkeys(graphs.families)
    return [Seed(family, number) for family in families for number in graphs.numbers]


def exported(asked: Iterable[Seed], workers: int | None) -> Exports:
    """Each in the cache, or exported by `workers` processes. SdkError where that needs
    what is not installed."""
    asked = list(asked)
    top = _folder()
    missing = [seed for seed in asked if not _is_known(top, seed)]
    if missing:
        need()
        paths.writable_folder(top)
        tasks = [(seed, top / seed.name) for seed in missing]
        with progress.doing("exporting graphs") as step:
            given = in_processes(_export, tasks, workers, start=_start)
            for done, _ in enumerate(given, 1):
                step.of(done, len(tasks))
    cases = [
        Found(seed.name, top / seed.name)
        for seed in asked
        if (top / seed.name / CASE_FILE).is_file()
    ]
    return Exports(tuple(cases), len(asked) - len(cases))


def need() -> None:
    """SdkError where PyTorch or ExecuTorch is missing."""
    absent = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if absent:
        raise SdkError(
            f"graphs are exported by PyTorch and ExecuTorch: {' and '.join(absent)}"
            " cannot be imported",
            hint=INSTALL,
        )


def _folder() -> Path:
    return exporters_folder("graphs")


def exporters_folder(name: str) -> Path:
    """Where exports of one kind are kept: by Ember's export and the versions here, or,
    where those are not installed, the newest that were."""
    package = paths.package()
    sources = [
        file
        for room in ("sweep/graphs", "export")
        for file in kept.below(str(package / room), (".py",))
    ]
    top = paths.cache() / name / kept.digest(package, sources).hex()[:16]
    try:
        versions = map(importlib.metadata.version, _PACKAGES)
        return top / "-".join(versions)
    except importlib.metadata.PackageNotFoundError:
        return (
            max(top.iterdir(), default=top / "none") if top.is_dir() else top / "none"
        )


def _is_known(top: Path, seed: Seed) -> bool:
    folder = top / seed.name
    return (folder / CASE_FILE).is_file() or folder.with_suffix(_REFUSED).is_file()


# ---- shrinking -----------------------------------------------------------------------


@dataclass(frozen=True)
class Mismatch:
    """A graph that differs, and where."""

    seed: Seed
    board: Board
    option: Option
    timeout_s: float | None
    folder: Path  # for the case of its smallest part


def shrunk(
    mismatches: Iterable[Mismatch], workers: int | None
) -> Iterator[tuple[Mismatch, str]]:
    """Write the case of each one's smallest part that differs; its text, or why there
    is none."""
    tasks = [(mismatch,) for mismatch in mismatches]
    with progress.doing("shrinking graphs"):
        yield from in_processes(_shrink, tasks, workers, start=_start)


# ---- in processes with PyTorch -------------------------------------------------------


def in_processes(
    function: Callable[..., _Result],
    tasks: Sequence[tuple[object, ...]],
    workers: int | None,
    *,
    start: Callable[[], None] | None = None,
    alone: bool = False,
) -> Iterator[_Result]:
    """Results of a function in `workers` processes, as they come. Each process calls
    `start` first; if `alone`, it does one task only."""
    count = min(workers or os.cpu_count() or 1, len(tasks))
    context = multiprocessing.get_context("spawn")
    most = 1 if alone else None
    with ProcessPoolExecutor(count, context, start, max_tasks_per_child=most) as pool:
        futures = [pool.submit(function, *task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool as error:
            raise SdkError(
                "a process that exports programs ended: the host may have too little"
                " memory",
                hint="--workers 1; the same command goes on where this ended",
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _start() -> None:
    with quiet():  # what PyTorch's packages say while they are imported
        from ember.sweep.graphs import exported
    exported.start()


def _export(seed: Seed, folder: Path) -> None:
    from ember.sweep.graphs import exported

    reasons = exported.export_seed(seed.family, seed.number, folder)
    if not folder.is_dir():
        folder.with_suffix(_REFUSED).write_text("\n".join(reasons) + "\n")


def _shrink(mismatch: Mismatch) -> tuple[Mismatch, str]:
    from ember.sweep.graphs import shrink

    settings = testing.Settings(
        timeout_s=mismatch.timeout_s,
        optimize=mismatch.option.optimize,
        rows=mismatch.option.rows,
    )

    def differing(folders: Iterable[Path]) -> list[Path]:
        matching = [Found(folder.name, folder) for folder in folders]
        outcomes = testing.test(matching, [mismatch.board], jobs=1, settings=settings)
        return [entry.path for entry in outcomes if entry.status != "passed"]

    seed = mismatch.seed
    try:
        text = shrink.smallest(seed.family, seed.number, differing, mismatch.folder)
    except SdkError as error:  # a tool that is missing: nothing runs on that board
        text = f"not shrunk: {error.what}"
    return mismatch, text
