"""Models of a sweep become programs, by `ember export` in processes of its own.

A program is kept under a hash of what makes it: the Python files beside the model, the
samples, the settings, Ember's export and the exporter's versions.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ember import kept, paths, progress
from ember.cases import Found
from ember.errors import SdkError, UsageError
from ember.sweep import sources
from ember.sweep.settings import Backend, Format, ModelExports


@dataclass(frozen=True)
class ModelOrder:
    """One export."""

    file: Path
    backend: Backend
    format: Format
    samples: Path | None

    @property
    def name(self) -> str:
        """That of the program, such as network-xnnpack-int8."""
        parts = [self.file.stem, self.backend, self.format]
        return "-".join([*parts, self.samples.stem] if self.samples else parts)

    @property
    def words(self) -> list[str]:
        quantize = [] if self.format == "float" else ["--quantize", self.format]
        samples = ["--calibrate", str(self.samples)] if self.samples else []
        return [str(self.file), "--backend", self.backend, *quantize, *samples]

    def digest(self) -> str:
        """A hash of the settings, and of all files that may matter."""
        hashed = hashlib.sha256("\0".join([self.backend, self.format]).encode())
        beside = sorted({self.file, *self.file.parent.glob("*.py")})
        for path in (*beside, *_files(self.samples)):
            hashed.update(f"{path}\0".encode(errors="surrogateescape"))
            hashed.update(hashlib.sha256(path.read_bytes()).digest())
        return hashed.hexdigest()[:16]


def exported(
    models: Iterable[ModelExports], folder: Path, workers: int | None
) -> list[Found]:
    """The programs of all models; files are relative to `folder`. UsageError where one
    is missing, SdkError with what `ember export` says."""
    orders = [order for model in models for order in _orders(model, folder.absolute())]
    if not orders:
        return []
    top = paths.writable_folder(sources.exporters_folder("exports"))
    places = [top / order.digest() / f"{order.name}.bpte" for order in orders]
    missing = [
        (order, place)
        for order, place in zip(orders, places, strict=True)
        if not kept.found(place)
    ]
    count = workers or os.cpu_count() or 1
    with progress.doing("exporting models") as step, ThreadPoolExecutor(count) as pool:
        for done, _ in enumerate(pool.map(lambda pair: _export(*pair), missing), 1):
            step.of(done, len(missing))
    return [Found(place.name, place) for place in places]


def _orders(model: ModelExports, folder: Path) -> Iterator[ModelOrder]:
    file = folder / model.file
    samples: Sequence[Path | None] = [folder / name for name in model.samples] or [None]
    for path in (file, *samples):
        if path is not None and not path.exists():
            raise UsageError(f"models: {path} does not exist")
    for row in itertools.product(model.backends, model.quantize, samples):
        yield ModelOrder(file, *row)


def _files(samples: Path | None) -> list[Path]:
    if samples is None or samples.is_file():
        return [samples] if samples else []
    return sorted(path for path in samples.rglob("*") if path.is_file())


def _export(order: ModelOrder, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as aside:
        program = Path(aside) / place.name
        words = [sys.executable, "-m", "ember", "export", *order.words]
        done = subprocess.run(
            [*words, "--out", str(program)],
            cwd=order.file.parent,
            check=False,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
        if not program.is_file():
            raise SdkError(f"{order.name} was not exported: {_said(done.stderr)}")
        program.replace(place)


def _said(text: str) -> str:
    """What a command says is wrong, its hint too, in one line."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("ember export: ")]
    said = lines[starts[-1] :] if starts else lines[-1:]
    return " ".join(" ".join(said).removeprefix("ember export: ").split())
