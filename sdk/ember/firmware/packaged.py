"""Models become what a linker needs for an application of the user's own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ember import boards, paths, progress
from ember.firmware import folder as build_folder
from ember.firmware import jobs, layout, pack
from ember.firmware.advice import refusal
from ember.firmware.jobs import Options
from ember.firmware.linking import Estimate
from ember.firmware.pipeline import Pipeline
from ember.firmware.placing import Assumed
from ember.toolchain import libraries, parts
from ember.toolchain.compiler import Libraries

# Stack of a packed model that is left for the project's own application.
_APPLICATION, _STEP = 2048, 32  # bytes


@dataclass(frozen=True)
class Package:
    """Models compiled for a board, for a project that links its own application."""

    folder: Path  # with ember_models.h
    libs: Libraries
    objects: tuple[Path, ...]
    script: Path | None


def package(
    files: Sequence[Path], board_name: str, folder: Path, options: Options
) -> Package:
    """Like build(), up to what a linker needs beside main()."""
    board = options.rules.narrowed(boards.load(board_name))
    paths.need_folder(folder)
    before = build_folder.held(folder)
    pipeline = Pipeline.read(files, board, options)
    pipeline.check()  # reports gaps before a compiler runs for nothing
    libs = libraries.build(board, **jobs.asked(options), whole=False)
    key = jobs.key(pipeline.job, libs)
    paths.writable_folder(folder)
    with build_folder.locked(folder, key, before) as is_there:
        if not is_there:
            with build_folder.filled(folder, key) as aside:
                _compile_package(aside, pipeline, libs)
    place, objects = folder / "4-package", folder / "objects"
    script = place / "linker.ld"
    compiled = tuple(sorted(objects.iterdir()))
    return Package(
        place,
        parts.of(libs, compiled),
        compiled,
        script if script.is_file() else None,
    )


def _compile_package(folder: Path, pipeline: Pipeline, libs: Libraries) -> None:
    place, objects = folder / "4-package", folder / "objects"
    kernels = _pack(folder, pipeline, libs)
    objects.mkdir()
    app = paths.runtime() / "app"
    sources = [app / "model.c", app / "model_loaded.c", *pack.sources(place)]
    libs.compile(sources, objects, [f"-I{place}"])
    for path in libraries.user_objects(libs, pipeline.job.options.rules.known, kernels):
        shutil.copy(path, objects / f"user_{path.name}")


def _pack(
    folder: Path, pipeline: Pipeline, libs: Libraries
) -> dict[str, tuple[str, ...]]:
    """The first four artefacts as for Ember's own application, and the kernels.

    There is more stack for an application of the project where there is room.
    """
    with (
        progress.doing(f"packing for {pipeline.job.board.name}"),
        tempfile.TemporaryDirectory(prefix="ember-objects-") as scratch,
    ):
        estimate = pipeline.settle(folder, libs, Path(scratch))
    if not estimate.fits:
        raise refusal.error(estimate, prepared=False)
    assert estimate.packed is not None
    packed = estimate.packed
    more = _for_application(estimate)
    if more:
        settled = Assumed(estimate.stack, estimate.linked)
        roomy = replace(settled, stack=estimate.stack + more)
        placed = estimate.pipeline.place(roomy)
        if placed.shortages:
            placed = estimate.pipeline.place(settled)
        packed = pipeline.pack(folder, placed)
        assert estimate.compiled is not None
        layout.write_moved(folder / "4-package" / "linker.ld", estimate.compiled.moved)
    pack.write_facts(folder, pipeline.job, packed, packed.placed.facts)
    return packed.kernels


def _for_application(estimate: Estimate) -> int:
    """Bytes of stack beyond the bound, as far as there is room."""
    assert estimate.compiled is not None
    if estimate.job.options.stack is not None or estimate.compiled.stack.bound is None:
        return 0
    name = estimate.placed.plans[0].stack_memory
    (memory,) = (filled for filled in estimate.memories if filled.memory == name)
    return min(_APPLICATION, (memory.capacity - memory.used) // _STEP * _STEP)
