"""Models and a board become a build folder, unless it is up to date."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ember import boards, paths, progress
from ember.boards import Board
from ember.firmware import folder as build_folder
from ember.firmware import jobs
from ember.firmware.folder import Built
from ember.firmware.jobs import Job, Options
from ember.toolchain import libraries
from ember.toolchain.compiler import Libraries

if TYPE_CHECKING:
    from ember.firmware.pipeline import Pipeline


def build(
    path: Path | Sequence[Path],
    board_name: str | Board,
    *,
    out: Path | None = None,
    data: Sequence[Path] = (),
    options: Options | None = None,
) -> Built:
    """Build `path` (.pte, .bpte or case folder) for a board unless it is up to date.

    Several models become one firmware. The board is a name, or what was loaded. `out`
    is the build folder, build/<board>/<model> when None.
    """
    options = options or Options()
    known = boards.load(board_name) if isinstance(board_name, str) else board_name
    board = options.rules.narrowed(known)
    files = [path] if isinstance(path, Path) else list(path)
    job = jobs.read(files, board, options, options.app, data=data)
    name = "_".join(model.name for model in job.models)
    folder = (out or Path("build") / board.name / name).absolute()
    paths.need_folder(folder, "choose another folder with --out")
    before, pipeline = build_folder.held(folder), None
    if not libraries.built_key(board, **jobs.asked(options)):
        pipeline = _pipeline(job)
        pipeline.check()  # reports gaps before a compiler runs for nothing
    libs = jobs.libraries_of(board, options)
    key = jobs.key(job, libs)
    if not build_folder.is_built(folder, key):
        pipeline = pipeline or _pipeline(job)
        pipeline.check()
        paths.writable_folder(folder, "choose another folder with --out")
        with build_folder.locked(folder, key, before) as is_there:
            if not is_there:
                with build_folder.filled(folder, key) as place:
                    _write(place, pipeline, libs)
            return build_folder.read(folder, job)
    return build_folder.read(folder, job)


# Stages are imported where they begin: what is built already needs none of them.


def _pipeline(job: Job) -> Pipeline:
    from ember.firmware.pipeline import Pipeline

    return Pipeline(job)


def _write(folder: Path, pipeline: Pipeline, libs: Libraries) -> None:
    """All artefacts; SdkError when the board is too small."""
    from ember.firmware.advice import refusal

    with tempfile.TemporaryDirectory(prefix="ember-objects-") as scratch:
        with progress.doing(f"building for {pipeline.job.board.name}"):
            estimate = pipeline.settle(folder, libs, Path(scratch))
        if not estimate.fits:
            raise refusal.error(estimate)
        pipeline.write(folder, estimate, Path(scratch) / "firmware.elf", libs)


def check(
    files: Sequence[Path], board: Board, options: Options, *, part: Board | None = None
) -> None:
    """SdkError when the models do not fit; nothing is compiled where there is ample
    room. `part` is the board with the memories that are to be used."""
    from ember.firmware.advice import refusal

    refusal.placed(_pipeline(jobs.read(files, part or board, options)), board)
