"""Models and a board become a build folder, unless it is up to date."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ember import boards, paths, progress
from ember import model as models
from ember.boards import Board
from ember.build import built, jobs
from ember.build import folder as build_folder
from ember.build.built import Built
from ember.build.jobs import Job, Options
from ember.errors import UsageError
from ember.toolchain import libraries
from ember.toolchain.libraries import Libraries

if TYPE_CHECKING:
    from ember.plan.improved import Chosen


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
    read = tuple(models.read(file, data if len(files) == 1 else ()) for file in files)
    if data and len(files) > 1:
        raise UsageError(
            "--data works with one model",
            hint="put each model in a folder with its .ptd",
        )
    app = jobs.app_of(options.app)
    job = jobs.make(read, board, options, app)
    name = "_".join(model.name for model in read)
    folder = (out or Path("build") / board.name / name).absolute()
    paths.need_folder(folder, "choose another folder with --out")
    before, chosen = build_folder.held(folder), None
    if not libraries.built_key(board, **jobs.asked(options)):
        # Report gaps before a compiler runs for nothing.
        chosen = _chosen(job)
    libs = jobs.libraries_of(board, options)
    key = jobs.key(job, libs)
    if not build_folder.is_built(folder, key):
        chosen = chosen or _chosen(job)
        paths.writable_folder(folder, "choose another folder with --out")
        with build_folder.locked(folder, key, before) as is_there:
            if not is_there:
                with build_folder.filled(folder, key) as place:
                    _write(place, job, chosen, libs)
            return built.read(folder, job)
    return built.read(folder, job)


# Stages are imported where they begin: what is built already needs none of them.


def _chosen(job: Job) -> Sequence[Chosen]:
    from ember.build import choosing

    return choosing.choose(job)


def _write(folder: Path, job: Job, chosen: Sequence[Chosen], libs: Libraries) -> None:
    """All artefacts; SdkError when the board is too small."""
    from ember.build import firmware_folder, flow, packing
    from ember.build.advice import refusal

    with tempfile.TemporaryDirectory(prefix="ember-objects-") as scratch:
        with progress.doing(f"building for {job.board.name}"):
            estimate = flow.settle(folder, job, chosen, libs, Path(scratch))
        if not estimate.fits:
            raise refusal.error(estimate, chosen)
        assert estimate.packed is not None
        packing.write_facts(folder, job, estimate.packed, estimate.to_json())
        linked = Path(scratch) / "firmware.elf"
        firmware_folder.write(folder / "5-firmware", linked, estimate, libs)


def check(
    files: Sequence[Path], board: Board, options: Options, *, part: Board | None = None
) -> None:
    """SdkError when the models do not fit; nothing is compiled where there is ample
    room. `part` is the board with the memories that are to be used."""
    from ember.build.advice import fitting

    read = tuple(models.read(path) for path in files)
    job = jobs.make(read, part or board, options, None)
    fitting.place(job, _chosen(job), board)
