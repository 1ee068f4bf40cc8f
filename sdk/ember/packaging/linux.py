"""Models become a folder for AArch64 Linux: a static library, a program, test vectors.

The library is one object in which all names but Ember's are local: it needs a C library
for memcpy and system calls, and has its own functions of <math.h>, so that numbers are
those of every board. The program is `main.c` of the folder as a process without one.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ember import __version__, boards, output, paths, program, quoted
from ember import model as models
from ember.boards import Board
from ember.cases import inputs
from ember.cases.inputs import TensorValue, Value
from ember.errors import SdkError
from ember.firmware import build, jobs, pack
from ember.firmware.advice import refusal
from ember.firmware.jobs import Options
from ember.firmware.pipeline import Pipeline
from ember.packaging import manifests, sources
from ember.plan.passes import execute
from ember.program import Method
from ember.toolchain import build_tree, emulator, libraries, parts, tools
from ember.toolchain.compiler import Libraries

DEFAULT_BOARD = "linux-aarch64"
_TEMPLATE = Path(__file__).parent / "templates" / "linux"
_OBJECT, _LIBRARY = "ember_model.o", "libember_model.a"
_CORE, _LIBC = "libember_core.a", "libember_libc.a"
_LESSER = ("-cpu", "max,sme=off")  # whose numbers all cores have, float16 too
_MOST_FILES = 10  # test.sh sorts their names


def write(
    files: Sequence[Path], board_name: str, folder: Path, options: Options
) -> list[Path]:
    """Fill an empty folder; what is in it."""
    board = options.rules.narrowed(boards.load(board_name))
    if not board.detects:
        raise SdkError(
            f"a package for linux is for a board with Linux, and {board.name} has none",
            hint=f"leave --board out, or use {DEFAULT_BOARD}",
        )
    sources.check_code(options)
    read = tuple(models.read(path) for path in files)
    name = quoted.target(read[0].name)
    with tempfile.TemporaryDirectory(prefix="ember-linux-") as temporary:
        place = Path(temporary)
        _write_library(folder, board, read, options, place)
        written = _from_templates(folder, board, name)
        _write_program(folder, board_name, files, name, options, place)
    if _write_vectors(folder, board, files[0], read[0].method(None), name):
        written.append(folder / "test")
    else:
        (folder / "test.sh").unlink()
        written.remove(folder / "test.sh")
    return [*written, folder / "bin" / name, folder / "lib" / _LIBRARY]


def _from_templates(folder: Path, board: Board, name: str) -> list[Path]:
    words = {"VERSION": __version__, "NAME": name, "SETS": ", ".join(board.isa)}
    written = manifests.expand(_TEMPLATE, folder, words)
    licence = folder / "LICENSE"
    output.write_text((paths.root() / "LICENSE").read_text("utf-8"), licence)
    return [*written, licence]


# ---- the library ---------------------------------------------------------------------


def _write_library(
    folder: Path,
    board: Board,
    read: tuple[models.Model, ...],
    options: Options,
    scratch: Path,
) -> None:
    package, objects = scratch / "package", scratch / "objects"
    package.mkdir()
    objects.mkdir()
    job = jobs.make(read, _of_any_linker(board), options, None)
    pipeline = Pipeline(job)
    packed = pipeline.pack(package, refusal.placed(pipeline, job.board))
    generated = package / "4-package"
    libs = libraries.build(_of_any_place(board), **jobs.asked(options), whole=False)
    user_objects = libraries.user_objects(libs, options.rules.known, packed.kernels)
    compiled = [*_compile(libs, generated, objects), *user_objects]
    _archive(parts.of(libs, compiled), compiled, objects, folder / "lib")
    _write_headers(folder / "include", generated, options)


def _of_any_linker(board: Board) -> Board:
    """Its models lie where a linker puts constants and variables, without a script."""
    return board.model_copy(update={"port": "host"})


def _of_any_place(board: Board) -> Board:
    """Its code can be part of programs and libraries at any address."""
    assert board.core is not None
    flags = f"{board.core.flags} -fPIC".strip()
    core = board.core.model_copy(update={"flags": flags})
    return board.model_copy(update={"core": core})


def _compile(libs: Libraries, package: Path, folder: Path) -> list[Path]:
    app, port = paths.runtime() / "app", paths.runtime() / "port"
    files = [app / "model.c", app / "model_loaded.c", *pack.sources(package)]
    files += [port / "linux_library" / "linux_library.c", port / "read_line.c"]
    files += [port / "a64" / "sme_abi.S"]
    return libs.compile(files, folder, [f"-I{package}"])


def _archive(
    libs: Libraries, compiled: Sequence[Path], scratch: Path, folder: Path
) -> None:
    """All objects as one, with Ember's names."""
    archives = {path.name: path for path in libs.archives}
    core, libc = archives.pop(_CORE), archives.pop(_LIBC)
    words = [tools.path("ld.lld-19"), "-r", "-o", str(scratch / _OBJECT)]
    words += [*map(str, compiled), "--whole-archive", str(core), "--no-whole-archive"]
    words += ["--start-group", *map(str, archives.values())]
    words += [str(_math(libs, libc, scratch)), "--end-group"]
    build_tree.run(words, f"cannot link {_OBJECT}")
    names = [
        tools.path("llvm-objcopy-19"),
        "--wildcard",
        "--keep-global-symbol=ember_*",
    ]
    build_tree.run([*names, str(scratch / _OBJECT)], f"cannot name {_OBJECT}")
    library = paths.writable_folder(folder) / _LIBRARY
    library.unlink(missing_ok=True)
    words = [libs.ar, "crsD", str(library.absolute()), _OBJECT]
    build_tree.run(words, f"cannot make {_LIBRARY}", scratch)


def _math(libs: Libraries, libc: Path, scratch: Path) -> Path:
    """Ember's functions of <math.h>; those of <string.h> are the C library's."""
    place = scratch / "libc"
    place.mkdir()
    build_tree.run([libs.ar, "x", str(libc.absolute())], f"cannot read {libc}", place)
    kept = [path.name for path in sorted(place.iterdir()) if "string" not in path.name]
    build_tree.run(
        [libs.ar, "crsD", "libmath.a", *kept], "cannot make libmath.a", place
    )
    return place / "libmath.a"


def _write_headers(folder: Path, package: Path, options: Options) -> None:
    place = paths.writable_folder(folder / "ember")
    for path in sources.public_headers():
        shutil.copy(path, place / path.name)
    config = (place / "config.h").read_text("utf-8")
    output.write_text(sources.configured(config, options), place / "config.h")
    for path in sorted(package.glob("*.h")):
        shutil.copy(path, folder / path.name)
    output.write_text(sources.main_header(), folder / "Ember.h")


# ---- the program ---------------------------------------------------------------------


def _write_program(
    folder: Path,
    board_name: str,
    files: Sequence[Path],
    name: str,
    options: Options,
    scratch: Path,
) -> None:
    place = scratch / "program"
    place.mkdir()
    shutil.copy(folder / "main.c", place)
    output.write_text(sources.main_header(), place / "Ember.h")
    asked = replace(options, app=place / "main.c")
    built = build(files, board_name, out=scratch / "build", options=asked)
    target = paths.writable_folder(folder / "bin") / name
    shutil.copy(built.firmware, target)
    target.chmod(0o755)


def _write_vectors(
    folder: Path, board: Board, path: Path, method: Method, name: str
) -> bool:
    """Whether the folder has test vectors: what the program answers here."""
    given = [item for item in _inputs(path, method) if isinstance(item, TensorValue)]
    most = max(len(given), len(method.outputs))
    tensors = all(isinstance(value, program.Tensor) for value in method.output_values)
    if most > _MOST_FILES or not tensors or not emulator.available(board):
        return False
    place = paths.writable_folder(folder / "test").absolute()
    names = [f"input{index}.bin" for index in range(len(given))]
    for file, value in zip(names, given, strict=True):
        (place / file).write_bytes(value.data)
    runner = board.runner.model_copy(update={"args": _LESSER})
    lesser = board.model_copy(update={"runner": runner})
    words = emulator.command(lesser, (folder / "bin" / name).absolute(), names)
    done = subprocess.run(words, cwd=place, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SdkError(f"the program of the package fails: {done.stderr.strip()}")
    return True


def _inputs(path: Path, method: Method) -> list[Value]:
    """Those of a case, or else random ones."""
    case = inputs.of_case(path, method.name)
    if case is not None:
        return inputs.lay_out(method, case.given)
    numbers = np.random.default_rng(20)
    return [
        replace(value, data=execute.random(value.dtype, value.sizes, numbers).tobytes())
        if isinstance(value, TensorValue)
        else value
        for value in inputs.zeros(method)
    ]
