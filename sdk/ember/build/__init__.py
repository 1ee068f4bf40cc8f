"""Models and a board become firmware, through numbered artefacts in a build folder.

1-program.json    what the program contains; a list where there are several
2-selection.json  the kernel of each call
3-plan.json       the memory of each region
4-package/        image and generated C (pack/)
5-firmware/       firmware.elf, .bin, .hex, firmware.map, size.json, certificate.json
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ember import boards, paths, program, progress, writing
from ember import model as models
from ember.boards import Board
from ember.build import (
    certificate,
    estimate,
    firmware,
    firmware_folder,
    jobs,
    pack,
    parts,
    refusal,
    stages,
)
from ember.build import folder as build_folder
from ember.build.estimate import Estimate
from ember.build.jobs import Job, Options
from ember.errors import UsageError
from ember.model import Model
from ember.plan.improved import Chosen
from ember.program import Method
from ember.toolchain import libraries, linker, user_kernels
from ember.toolchain.libraries import Libraries

__all__ = ["Built", "Options", "Package", "build", "check", "package", "trace"]


# Of a packed model's stack what is left for an application of the project's own.
_APPLICATION, _STEP = 2048, 32  # bytes


@dataclass(frozen=True)
class Built:
    """Firmware of one model, or of several, for one board."""

    models: tuple[Model, ...]
    board: Board
    chosen: tuple[tuple[Method, ...], ...]  # methods of each model
    folder: Path
    selection: dict[str, Any]
    plan: dict[str, Any]
    certificate: dict[str, Any]
    sizes: dict[str, Any]  # size, memory
    images: tuple[Path, ...]  # flashable files
    options: Options = field(default_factory=Options)

    @property
    def model(self) -> Model:
        """The first one."""
        return self.models[0]

    @property
    def methods(self) -> tuple[Method, ...]:
        """Those of the first model."""
        return self.chosen[0]

    @property
    def name(self) -> str:
        return "_".join(model.name for model in self.models)

    def packed(self, name: str) -> Method:
        """A method of the first model as the firmware has it."""
        folder = self.folder / "4-package"
        if len(self.models) > 1:
            folder /= self.model.identifier
        found = program.read(folder / "model.pte").method(name)
        assert found is not None
        return found

    @property
    def firmware(self) -> Path:
        return self.folder / "5-firmware" / "firmware.elf"

    @property
    def traced(self) -> Path:
        """The same with a mark around each node; made by trace()."""
        return self.folder / "5-firmware" / "firmware-traced.elf"


def build(
    path: Path | Sequence[Path],
    board_name: str,
    *,
    out: Path | None = None,
    data: Sequence[Path] = (),
    options: Options | None = None,
) -> Built:
    """Build `path` (.pte, .bpte or case folder) for a board; nothing when it is built.

    Several become one firmware. `out` is the build folder, build/<board>/<model> when
    None.
    """
    options = options or Options()
    board = options.rules.narrowed(boards.load(board_name))
    files = [path] if isinstance(path, Path) else list(path)
    found = tuple(models.read(one, data if len(files) == 1 else ()) for one in files)
    if data and len(files) > 1:
        raise UsageError(
            "--data works with one model",
            hint="put each model in a folder with its .ptd",
        )
    app = jobs.app_of(options.app)
    job = jobs.make(found, board, options, app)
    name = "_".join(model.name for model in found)
    folder = (out or Path("build") / board.name / name).absolute()
    paths.need_folder(folder, "choose another folder with --out")
    before, pairs = build_folder.held(folder), None
    if not libraries.built_key(board, **jobs.asked(options)):
        # Gaps are told before a compiler runs for nothing.
        pairs = jobs.choose(job)
    made = jobs.libraries_of(board, options)
    key = jobs.key(job, made)
    if not build_folder.is_built(folder, key):
        pairs = pairs or jobs.choose(job)
        paths.writable_folder(folder, "choose another folder with --out")
        with build_folder.locked(folder, key, before) as is_there:
            if not is_there:
                with build_folder.filled(folder, key) as place:
                    _write(place, job, pairs, made)
            return _read(folder, job)
    return _read(folder, job)


def _write(folder: Path, job: Job, pairs: Sequence[Chosen], made: Libraries) -> None:
    """All artefacts; SdkError when the board is too small."""
    with tempfile.TemporaryDirectory(prefix="ember-objects-") as place:
        with progress.doing(f"building for {job.board.name}"):
            found = estimate.of_job(folder, job, pairs, made, Path(place))
        if not found.fits:
            raise refusal.error(found, pairs)
        build_folder.write_json(folder / "3-plan.json", found.to_json())
        linked = Path(place) / "firmware.elf"
        firmware_folder.write(folder / "5-firmware", linked, found, made)


@dataclass(frozen=True)
class Package:
    """Models compiled for a board, to be linked with an application by its project."""

    folder: Path  # with ember_models.h
    made: Libraries
    objects: tuple[Path, ...]
    script: Path | None


def package(
    files: Sequence[Path], board_name: str, folder: Path, options: Options
) -> Package:
    """As build(), up to what a linker needs beside main()."""
    board = options.rules.narrowed(boards.load(board_name))
    paths.need_folder(folder)
    before = build_folder.held(folder)
    found = tuple(models.read(path) for path in files)
    job = jobs.make(found, board, options, None)
    pairs = jobs.choose(job)
    made = libraries.build(board, **jobs.asked(options), whole=False)
    key = jobs.key(job, made)
    paths.writable_folder(folder)
    with build_folder.locked(folder, key, before) as is_there:
        if not is_there:
            with build_folder.filled(folder, key) as aside:
                _compile_package(aside, job, pairs, made)
    place, objects = folder / "4-package", folder / "objects"
    script = place / "linker.ld"
    compiled = tuple(sorted(objects.iterdir()))
    return Package(
        place,
        parts.of(made, compiled),
        compiled,
        script if script.is_file() else None,
    )


def _compile_package(
    folder: Path, job: Job, pairs: Sequence[Chosen], made: Libraries
) -> None:
    options = job.options
    place, objects = folder / "4-package", folder / "objects"
    chosen = _packed(folder, job, pairs, made)
    objects.mkdir()
    app = paths.runtime() / "app"
    sources = [app / "model.c", app / "model_loaded.c", *pack.sources(place)]
    made.compile(sources, objects, [f"-I{place}"])
    for path in user_kernels.objects(made, options.rules.known, chosen):
        shutil.copy(path, objects / f"user_{path.name}")


def _packed(
    folder: Path, job: Job, pairs: Sequence[Chosen], made: Libraries
) -> dict[str, tuple[str, ...]]:
    """The first four artefacts, as the usual application needs them, with more stack
    for one of the project's own where there is room; the kernels."""
    with (
        progress.doing(f"packing for {job.board.name}"),
        tempfile.TemporaryDirectory(prefix="ember-objects-") as place,
    ):
        found = estimate.of_job(folder, job, pairs, made, Path(place))
    if not found.fits:
        raise refusal.error(found, pairs, prepared=False)
    assert found.packed is not None
    stack = found.stack + _of_application(found)
    if stack == found.stack:
        return found.packed.chosen
    packed = stages.packed_models(folder, job, pairs, stack, found.linked)
    if packed.planned.shortages:
        stages.packed_models(folder, job, pairs, found.stack, found.linked)
    return found.packed.chosen


def _of_application(found: Estimate) -> int:
    """Bytes of stack beside what the bound asks for, as far as there is room."""
    if found.job.options.stack is not None or found.bound is None:
        return 0
    name = found.planned.plans[0].stack_memory
    (memory,) = (one for one in found.memories if one.memory == name)
    return min(_APPLICATION, (memory.capacity - memory.used) // _STEP * _STEP)


def check(files: Sequence[Path], board: Board, options: Options) -> None:
    """SdkError when the models do not fit, as far as that is known before anything is
    compiled: with an assumed stack, code and variables."""
    found = tuple(models.read(path) for path in files)
    job = jobs.make(found, board, options, None)
    jobs.planned(job, jobs.choose(job), options.stack or linker.DEFAULT_STACK).check()


def trace(built: Built) -> Path:
    """Link the traced twin of a firmware, unless it is there; its path."""
    with writing.locked(built.folder, wait=True):
        if not built.traced.is_file():
            made = jobs.libraries_of(built.board, built.options)
            known, chosen = built.options.rules.known, built.selection["operators"]
            kernels = user_kernels.objects(made, known, chosen)
            _link_traced(built, made, kernels)
    return built.traced


def _link_traced(built: Built, made: Libraries, kernels: Sequence[Path]) -> None:
    package = built.folder / "4-package"
    methods = tuple(itertools.chain(*built.chosen))
    prepared = built.options.prepared
    sources = firmware.Sources(package, methods, None, traced=True, prepared=prepared)
    with tempfile.TemporaryDirectory(prefix="ember-objects-") as place:
        compiled = sources.compile(made, Path(place))
        objects = firmware.objects(made, [*compiled, *kernels])
        script = package / "linker.ld"
        needed = certificate.stack_size(made, objects.graph, None)[0]
        if objects.graph is not None and needed > built.plan["stack"]:
            script = firmware.script_with_stack(package, needed)
        with writing.aside(built.traced.parent) as aside:
            objects.link(aside / built.traced.name, script)
            writing.publish(aside, built.traced.parent)


def _read(folder: Path, job: Job) -> Built:
    sizes = build_folder.read_json(folder / "5-firmware" / "size.json")
    return Built(
        models=job.models,
        board=job.board,
        chosen=job.methods,
        folder=folder,
        selection=build_folder.read_json(folder / "2-selection.json"),
        plan=build_folder.read_json(folder / "3-plan.json"),
        certificate=build_folder.read_json(folder / "5-firmware" / certificate.FILE),
        sizes=sizes,
        images=tuple(folder / "5-firmware" / name for name in sizes["images"]),
        options=job.options,
    )
