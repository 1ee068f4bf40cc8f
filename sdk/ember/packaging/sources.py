"""Models and a board become a folder of C that any project compiles with its compiler.

ember.json            version, board, models, and every file below src/
src/Ember.h           includes all that an application needs; from C or C++
src/ember/            the headers of the runtime
src/ember_models.h    the names of the models
src/model/            the models, their memory, the tables of their kernels
src/runtime_c/                  the runtime
src/backends/, src/kernels/     the backends and kernels that the models need

`src` is the only include folder. There is no start-up code and no linker script;
functions of ember/port.h are weak, so that a project can define its own.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ember import __version__, paths
from ember.boards import Board, Role, isa
from ember.errors import SdkError
from ember.firmware.advice import refusal
from ember.firmware.jobs import Options
from ember.firmware.pipeline import Pipeline
from ember.toolchain import linker, parts

RECORD = "ember.json"
_READ_ONLY: tuple[Role, ...] = ("vectors", "code", "rodata", "weights")
_WRITTEN: tuple[Role, ...] = ("data", "stack", "method", "planned", "temp", "io")
_STRINGS = "#define EMBER_ERROR_STRINGS 1"


def write(
    files: Sequence[Path], board: Board, folder: Path, options: Options
) -> list[str]:
    """Fill an empty folder and return the names of its C sources, relative to src/."""
    check_code(options)
    pipeline = Pipeline.read(files, library_board(board), options)
    job = pipeline.job
    pipeline.check()  # SdkError before the folder is touched
    paths.writable_folder(folder)
    with tempfile.TemporaryDirectory(prefix="ember-sources-") as temporary:
        place = Path(temporary)
        packed = pipeline.pack(place, refusal.placed(pipeline, board))
        texts = _generated(place / "4-package")
        core = sorted((paths.runtime() / "src").glob("*.c"))
        app = paths.runtime() / "app"
        core += [app / "model.c", app / "model_loaded.c"]
        port = paths.runtime() / "port"
        core += [port / "weak.c", port / "read_line.c"]
        ours = [*core, *parts.sources(job.board, parts.names(texts.values()))]
        for file in [*ours, *parts.headers([*ours, *public_headers()])]:
            texts[_place(file)] = file.read_text(encoding="utf-8")
        for file in options.rules.known.user_sources(packed.kernels):
            texts[f"user/{file.name}"] = file.read_text("utf-8", "surrogateescape")
    texts["ember/config.h"] = configured(texts["ember/config.h"], options)
    texts["Ember.h"] = main_header()
    _write_all(folder / "src", texts)
    sources = sorted(name for name in texts if name.endswith(".c"))
    facts = {
        "version": __version__,
        "board": board.name,
        "models": [model.name for model in job.models],
        "include": "src",
        "sources": [f"src/{name}" for name in sources],
    }
    (folder / RECORD).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return sources


def write_headers(folder: Path) -> list[str]:
    """Write only the headers of the runtime, for projects that pack later."""
    files = public_headers()
    texts = {_place(file): file.read_text(encoding="utf-8") for file in files}
    paths.writable_folder(folder)
    _write_all(folder / "src", texts)
    return []


def check_code(options: Options) -> None:
    """SdkError when the project moves kernels, which only a link of Ember's does."""
    if options.steering.code:
        raise SdkError(
            "`memory: code:` of ember.yaml moves no kernels of a package, because it is"
            " linked with another project's linker script",
            hint="leave `code:` out, and place the sections .text.ember_run_KERNEL by"
            " that script; `ember build`, and `ember pack` with CMake, move kernels",
        )


def library_board(board: Board) -> Board:
    """The board as a project with its own linker script sees it: one memory for
    constants, one for data, and the instruction sets that all its files may use, also
    without FPU."""
    if board.pointer_bytes != 4 or (not board.has_script and board.port != "library"):
        raise SdkError(
            f"sources are for 32-bit cores, which {board.name} does not have",
            hint="use `ember build`, or `ember pack` with CMake",
        )
    where = linker.place(board)
    memories = {
        name: board.memory(name).model_copy(update={"holds": ()})
        for name in (where["rodata"], where["data"])
    }
    for name, roles in ((where["rodata"], _READ_ONLY), (where["data"], _WRITTEN)):
        holds = (*memories[name].holds, *roles)
        memories[name] = memories[name].model_copy(update={"holds": holds})
    known = isa.load()
    sets = tuple(
        name
        for name in board.isa
        if not (known[name].needs_target_options or known[name].needs_fpu)
    )
    update = {"port": "library", "isa": sets, "memories": tuple(memories.values())}
    return board.model_copy(update=update)


def _generated(package: Path) -> dict[str, str]:
    """The generated C files of the package, by name below src/."""
    texts = {}
    for path in sorted(package.rglob("*.[ch]")):
        name = path.relative_to(package).as_posix()
        place = name if name == "ember_models.h" else f"model/{name}"
        texts[place] = path.read_text(encoding="utf-8")
    return texts


def configured(header: str, options: Options) -> str:
    """ember/config.h as the options have it."""
    assert _STRINGS in header
    return header.replace(_STRINGS, f"{_STRINGS[:-1]}{int(options.messages)}")


def public_headers() -> list[Path]:
    return sorted((paths.runtime() / "include" / "ember").glob("*.h"))


def _place(file: Path) -> str:
    for folder in parts.include_folders():
        if folder != paths.root() and folder in file.parents:
            return file.relative_to(folder).as_posix()
    return file.relative_to(paths.root()).as_posix()


def main_header() -> str:
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Generated by Ember. The only header that an application includes.
#ifndef EMBER_ALL_H
#define EMBER_ALL_H

#define EMBER_VERSION "{__version__}"

#include "ember/model.h"
#include "ember/port.h"
#include "ember_models.h"

#endif // EMBER_ALL_H
"""


def _write_all(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
