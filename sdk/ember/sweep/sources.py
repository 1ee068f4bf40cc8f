"""Seeds and models become programs: those in the cache, the others by the exporter.

The case of a seed is kept under a hash of the modules that make it (ember.sweep.graphs
and ember.export), the versions of PyTorch and ExecuTorch, its family and its seed; the
program of a model under a hash of those modules and versions, its samples, its settings
and the Python files beside it. All that needs PyTorch runs in separate processes.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ember import kept, paths, progress, writing
from ember.boards import Board
from ember.cases import CASE_FILE, Found
from ember.errors import SdkError, UsageError
from ember.export import job
from ember.export.job import ExportOrder
from ember.export.packages import INSTALL, quiet
from ember.run import testing
from ember.sweep.settings import Family, Graphs, ModelExports, Option

_PACKAGES = ("torch", "executorch")
_Result = TypeVar("_Result")
_REFUSED = ".refused"  # instead of a case, with the exporter's reasons


@dataclass(frozen=True)
class Seed:
    """The family and the number that identify a graph."""

    family: Family
    number: int

    @property
    def name(self) -> str:
        return f"{self.family}_{self.number:06}"


@dataclass(frozen=True)
class Exports:
    """Cases of seeds. `refused`: seeds for which the exporter accepted no graph."""

    cases: tuple[Found, ...]
    refused: int


def seeds(graphs: Graphs) -> list[Seed]:
    families = dict.fromkeys(graphs.families)
    return [Seed(family, number) for family in families for number in graphs.numbers]


def exported(asked: Iterable[Seed], workers: int | None) -> Exports:
    """The cases of seeds, from the cache or exported by `workers` processes. Raises
    SdkError if that needs packages that are missing."""
    asked = list(asked)
    top = _folder()
    missing = [seed for seed in asked if not _is_known(top, seed)]
    if missing:
        need()
        paths.writable_folder(top)
        tasks = [(seed, top / seed.name) for seed in missing]
        with progress.doing("exporting graphs") as step:
            step.of(0, len(tasks))
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
    """Raises SdkError if PyTorch or ExecuTorch is missing."""
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
    """The folder of one kind of exports, named by Ember's export and the installed
    versions; without those, the newest folder."""
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
    """Writes the smallest differing part of each graph as a case; its text, or why
    there is none."""
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
    single: bool = False,
) -> Iterator[_Result]:
    """Results of a function in `workers` processes, as they come.

    start -- called first in each process
    single -- a process does only one task
    """
    count = min(workers or os.cpu_count() or 1, len(tasks))
    context = multiprocessing.get_context("spawn")
    most = 1 if single else None
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
    from ember.sweep.graphs import exported

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
        text = exported.smallest(seed.family, seed.number, differing, mismatch.folder)
    except SdkError as error:  # a tool that is missing: nothing runs on that board
        text = f"not shrunk: {error.what}"
    return mismatch, text


# ---- models --------------------------------------------------------------------------


def exported_models(
    models: Iterable[ModelExports], folder: Path, workers: int | None
) -> list[Found]:
    """The programs of all models, exported by `workers` processes if they are not kept;
    files are relative to `folder`. Raises UsageError if one is missing, SdkError if a
    model cannot be exported."""
    orders = [order for model in models for order in _orders(model, folder.absolute())]
    if not orders:
        return []
    top = exporters_folder("exports")
    places = [top / _model_digest(order) / f"{_name(order)}.bpte" for order in orders]
    tasks = [
        (order, place)
        for order, place in zip(orders, places, strict=True)
        if not kept.found(place)
    ]
    if tasks:
        with progress.doing("exporting models") as step:
            step.of(0, len(tasks))
            # A model may change what others in its process import.
            given = in_processes(_export_model, tasks, workers, single=True)
            for done, _ in enumerate(given, 1):
                step.of(done, len(tasks))
    return [Found(place.name, place) for place in places]


def _orders(model: ModelExports, folder: Path) -> Iterator[ExportOrder]:
    file = folder / model.file
    samples: Sequence[Path | None] = [folder / name for name in model.samples] or [None]
    for path in (file, *samples):
        if path is not None and not path.exists():
            raise UsageError(f"models: {path} does not exist")
    for row in itertools.product(model.backends, model.quantize, samples):
        backend, format_, calibrate = row
        quantize = None if format_ == "float" else format_
        yield ExportOrder(
            path=file, backend=backend, quantize=quantize, calibrate=calibrate
        )


def _name(order: ExportOrder) -> str:
    """The name of a program, such as network-xnnpack-int8."""
    parts = [order.path.stem, str(order.backend), order.quantize or "float"]
    return "-".join([*parts, order.calibrate.stem] if order.calibrate else parts)


def _model_digest(order: ExportOrder) -> str:
    """A hash of all files that may matter; the program's name has the settings."""
    files = {order.path, *order.path.parent.glob("*.py")}
    if order.calibrate is not None:
        files.add(order.calibrate)
        files.update(order.calibrate.glob("*.np[yz]"))
    plain = [str(path) for path in files if path.is_file()]
    return kept.digest(Path("/"), plain).hex()[:16]


def _export_model(order: ExportOrder, place: Path) -> None:
    try:
        content = job.run(order).content
    except SdkError as error:
        said = f"{_name(order)} was not exported: {error.what}"
        raise SdkError(said, hint=error.hint) from None
    paths.writable_folder(place.parent)
    writing.write(place, content)
