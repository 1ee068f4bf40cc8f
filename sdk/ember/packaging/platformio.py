"""Boards become PlatformIO's platform `ember`, and packages that need no network.

library/       the library that packs models, for lib_deps
platform/      platform.json, builders, run.py; boards/ and linker scripts of every
               Cortex-M board that GCC compiles for, or of those of a new project
packages/      the host's cross compiler, and the SCons of its PlatformIO
python.json    the interpreter that has Ember

All of it is specific to this host: projects keep the folder out of version control
and generate it again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ember import __version__, boards, paths
from ember.boards import Board
from ember.boards.keys import console
from ember.packaging import manifests, sources
from ember.toolchain import emulator, libraries, linker, tools

_PREFIX = "arm-none-eabi-"
_PORT = "ember_port_sources_cortexm"
# The version scheme of PlatformIO's packages: GCC 12.2 is 1.120200.
_GCC = "1.{0}{1:02}{2:02}.0"
_SCONS = """\
# SPDX-License-Identifier: Apache-2.0
\"\"\"The SCons of PlatformIO's own Python, in place of a package to download.\"\"\"

import SCons.Script

SCons.Script.main()
"""
# Asks PlatformIO's Python which version of SCons it requires, and whether it has SCons.
_QUESTION = """\
import SCons, platformio.dependencies as d
print(d.get_core_dependencies()["tool-scons"])"""


OWN = ("library", "platform", "packages")


def write(folder: Path, chosen: Sequence[Board] | None = None) -> None:
    """Write the library, the platform of the `chosen` boards, or of all, the packages
    and python.json into an empty `folder`."""
    library = paths.writable_folder(folder / "library")
    manifests.write(library, ["platformio"], sources.write_headers(library))
    words = {"VERSION": __version__, "LICENSE": manifests.LICENSE}
    platform = folder / "platform"
    manifests.expand(paths.platformio() / "platform", platform, words)
    if chosen is None:
        chosen = [boards.load(name) for name in known_boards()]
    needed = {name for board in chosen for name in port_sources(board)}
    _write_framework(platform / "framework", needed)
    for board in chosen:
        _write_json(platform / "boards" / f"{board.name}.json", board_facts(board))
        script = platform / "framework" / "scripts" / f"{board.name}.ld"
        script.parent.mkdir(exist_ok=True)
        script.write_text(linker.script(board), encoding="utf-8")
    _write_toolchain(folder / "packages" / "toolchain-gccarmnoneeabi")
    _write_scons(folder / "packages" / "tool-scons")
    package = paths.package().parent
    sdk = {"python": sys.executable, "path": str(package)}
    _write_json(folder / "python.json", sdk)


def known_boards() -> list[str]:
    """Names of the boards that the platform supports."""
    return [name for name in boards.names() if is_known(boards.load(name))]


def is_known(board: Board) -> bool:
    """Whether the platform has start-up code for the board."""
    return board.port == "cortexm"


def has_scons(folder: Path) -> bool:
    """Whether PlatformIO's SCons is installed, so that none has to be downloaded."""
    return (folder / "packages" / "tool-scons" / "package.json").is_file()


def board_facts(board: Board) -> dict[str, Any]:
    """The board in PlatformIO's format."""
    where = linker.place(board)
    runner = board.runner
    words: list[str] = []
    if runner.kind.startswith("qemu"):
        words = emulator.command(board, Path("FIRMWARE"))
        words[0] = Path(words[0]).name
    return {
        "name": board.title,
        "vendor": "Ember",
        "url": "https://pytorch.org/executorch",
        "frameworks": ["ember"],
        "build": {"cpu": board.cpu, "mcu": board.name, "flags": _flags(board)},
        "upload": {
            "protocol": "ember",
            "protocols": ["ember", "custom"],
            "maximum_size": board.memory(where["code"]).size,
            "maximum_ram_size": board.memory(where["data"]).size,
        },
        "ember": {
            "board": board.name,
            "port": port_sources(board),
            "emulator": words,
            "timeout_s": runner.timeout_s,
        },
    }


def _flags(board: Board) -> str:
    """The compiler options of the core, without Helium, which GNU as supports badly."""
    assert board.core is not None
    helium = "+nomve" if "mve" in board.isa else ""
    flags = re.sub(r"-m(cpu|arch)=\S+", rf"\g<0>{helium}", board.core.flags, count=1)
    return f"{flags} -mthumb"


def port_sources(board: Board) -> list[str]:
    """Start-up code and console of a board, as paths below runtime_c/port."""
    port = paths.runtime() / "port"
    listed = (port / "CMakeLists.txt").read_text(encoding="utf-8")
    assignment = re.search(rf"set\({_PORT} ([^)]*)\)", listed)
    assert assignment is not None
    names = assignment[1].split()
    if board.console == "uart" and board.uart is not None:
        line = console(board.uart, board.port)
        names = [name for name in names if not libraries.is_semihosting(name)]
        names += [source.relative_to(port).as_posix() for source in line]
    return names


def _write_framework(folder: Path, sources: Iterable[str]) -> None:
    """Copy the port's sources, and the headers that they include."""
    port = paths.runtime() / "port"
    files = {port / name for name in sources}
    for place in {file.parent for file in files} | {port}:
        files |= set(place.glob("*.h"))
    for file in sorted(files):
        _copy(file, folder / "port" / file.relative_to(port))
    for file in (paths.runtime() / "include" / "ember").glob("*.h"):
        _copy(file, folder / "include" / "ember" / file.name)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write_toolchain(folder: Path) -> None:
    """Link to the host's cross compiler; without one, PlatformIO downloads its own."""
    version = tools.version(f"{_PREFIX}gcc")
    if version is None:
        return
    (folder / "bin").mkdir(parents=True)
    for place in reversed(os.get_exec_path()):  # the first on the PATH wins
        for tool in Path(place).glob(f"{_PREFIX}*"):
            (folder / "bin" / tool.name).unlink(missing_ok=True)
            (folder / "bin" / tool.name).symlink_to(tool)
    parts = [int(part) for part in re.findall(r"\d+", version)] + [0, 0]
    _write_json(
        folder / "package.json",
        {"name": folder.name, "version": _GCC.format(*parts)},
    )


def _write_scons(folder: Path) -> None:
    for python in _pythons():
        words = [python, "-c", _QUESTION]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        wanted = done.stdout.strip()
        if done.returncode == 0 and wanted.startswith("~"):
            facts = {"name": folder.name, "version": wanted.removeprefix("~")}
            _write_json(folder / "package.json", facts)
            (folder / "scons.py").write_text(_SCONS, encoding="utf-8")
            return


def _pythons() -> list[str]:
    """Interpreters that may have PlatformIO: the one of `pio`, then this one."""
    pythons = []
    for name in ("pio", "platformio"):
        program = shutil.which(name)
        if program is not None:
            pythons.append(str(Path(program).resolve().parent / "python"))
    return [python for python in (*pythons, sys.executable) if Path(python).exists()]


def _write_json(path: Path, facts: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(facts, indent=2)}\n", encoding="utf-8")


def ini(chosen: Sequence[Board], model: str, *, with_scons: bool) -> str:
    """A platformio.ini with an environment for each board."""
    scons = "  platformio/tool-scons@symlink://.ember/packages/tool-scons"
    lines = [
        "; `ember platformio` generates .ember/ for this host",
        "[env]",
        "platform = symlink://.ember/platform",
        "framework = ember",
        "platform_packages =",
        "  toolchain-gccarmnoneeabi@symlink://.ember/packages/toolchain-gccarmnoneeabi",
        *([scons] if with_scons else []),
        "lib_deps = symlink://.ember/library",
        f"custom_ember_model = {model}",
        "test_framework = custom",
    ]
    for board in chosen:
        # Where tests run; ${this.__env__} is defined only in sections of environments.
        firmware = "${platformio.build_dir}/${this.__env__}/firmware.elf"
        lines += [
            "",
            f"[env:{board.name}]",
            f"board = {board.name}",
            "test_testing_command =",
            "  python3",
            "  .ember/platform/run.py",
            f"  {board.name}",
            f"  {firmware}",
            *(["  --monitor"] if board.console == "uart" else []),
        ]
    return "\n".join(lines) + "\n"
