"""Models of a sweep become programs: those in the cache, the others by Ember's export.

A program is kept under a hash of what makes it: the Python files beside the model, the
samples, the settings, Ember's export and the exporter's versions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ember import kept, paths, progress, writing
from ember.cases import Found
from ember.errors import SdkError, UsageError
from ember.export import job
from ember.export.job import ExportOrder
from ember.sweep import sources
from ember.sweep.settings import ModelExports


def exported(
    models: Iterable[ModelExports], folder: Path, workers: int | None
) -> list[Found]:
    """The programs of all models, exported by `workers` processes if they are not kept;
    files are relative to `folder`. Raises UsageError if one is missing, SdkError if a
    model cannot be exported."""
    orders = [order for model in models for order in _orders(model, folder.absolute())]
    if not orders:
        return []
    top = sources.exporters_folder("exports")
    places = [top / _digest(order) / f"{_name(order)}.bpte" for order in orders]
    tasks = [
        (order, place)
        for order, place in zip(orders, places, strict=True)
        if not kept.found(place)
    ]
    if tasks:
        with progress.doing("exporting models") as step:
            # A model may change what others in its process import.
            given = sources.in_processes(_export, tasks, workers, alone=True)
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
    """Of the program, such as network-xnnpack-int8."""
    parts = [order.path.stem, str(order.backend), order.quantize or "float"]
    return "-".join([*parts, order.calibrate.stem] if order.calibrate else parts)


def _digest(order: ExportOrder) -> str:
    """A hash of all files that may matter; the settings are in the program's name."""
    files = {order.path, *order.path.parent.glob("*.py")}
    if order.calibrate is not None:
        files.add(order.calibrate)
        files.update(order.calibrate.glob("*.np[yz]"))
    plain = [str(path) for path in files if path.is_file()]
    return kept.digest(Path("/"), plain).hex()[:16]


def _export(order: ExportOrder, place: Path) -> None:
    try:
        content = job.run(order).content
    except SdkError as error:
        said = f"{_name(order)} was not exported: {error.what}"
        raise SdkError(said, hint=error.hint) from None
    paths.writable_folder(place.parent)
    writing.write(place, content)
