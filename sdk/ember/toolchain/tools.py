"""Programs that the SDK calls: where they are, and how a missing one is installed."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember import kept, paths
from ember.boards import Board
from ember.errors import SdkError


class MissingToolError(SdkError):
    """A program is not installed; the hint says how to get it."""

    more = "`ember doctor` lists what else is missing"


@dataclass(frozen=True)
class Tested:
    """The versions between which Ember is tested: those of Debian 12 and 13."""

    name: str
    first: str
    last: str

    def __str__(self) -> str:
        last = "" if self.last == self.first else f" to {self.last}"
        return f"{self.name} {self.first}{last}"

    def has(self, version: str) -> bool:
        """Whether a version is one of them; its third number does not matter."""
        wanted, first, last = map(_numbers, (version, self.first, self.last))
        return first <= wanted <= last


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


PYTHON = Tested("Python", "3.11", "3.13")
_CMAKE = Tested("CMake", "3.25", "3.31")
_NINJA = Tested("Ninja", "1.11", "1.12")
_GCC = Tested("GCC", "12.2", "14.2")
_LLVM = Tested("LLVM", "19.1", "19.1")
_QEMU = Tested("QEMU", "7.2", "10.0")


@dataclass(frozen=True)
class Tool:
    """A program and the Debian packages that bring it."""

    name: str
    package: str
    purpose: str
    tested: Tested

    @property
    def install(self) -> str:
        return f"apt-get install {self.package}"


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "cc",
            "gcc libc6-dev",
            "compiles the host board and the emulator plugin",
            _GCC,
        ),
        Tool("cmake", "cmake", "builds the C libraries", _CMAKE),
        Tool("ninja", "ninja-build", "runs the builds", _NINJA),
        Tool("arm-none-eabi-gcc", "gcc-arm-none-eabi", "compiles for Cortex-M", _GCC),
        Tool("clang-19", "clang-19", "compiles for Helium, Arm64 and Hexagon", _LLVM),
        Tool("ld.lld-19", "lld-19", "links for Helium, Arm64 and Hexagon", _LLVM),
        Tool("llvm-ar-19", "llvm-19", "packs libraries, converts firmware", _LLVM),
        Tool("llvm-objdump-19", "llvm-19", "reads code for --cycles", _LLVM),
        Tool("llvm-mca-19", "llvm-19", "has models of cores for --cycles", _LLVM),
        Tool("qemu-system-arm", "qemu-system-arm", "runs Cortex-M boards", _QEMU),
        Tool("qemu-system-aarch64", "qemu-system-arm", "runs Arm64 boards", _QEMU),
        Tool("qemu-aarch64", "qemu-user", "runs Arm64 programs of Linux", _QEMU),
        Tool("qemu-hexagon", "qemu-user", "runs Hexagon programs", _QEMU),
        Tool("qemu-arm", "qemu-user", "runs the loader with 32-bit pointers", _QEMU),
    )
}
NEWLIB_PACKAGE = "libnewlib-arm-none-eabi"
ZIGLANG_INSTALL = f"{sys.executable} -m pip install ziglang"

OPTIONAL = ("llvm-objdump-19", "llvm-mca-19")  # where instructions are counted

_ALWAYS = ("cmake", "ninja", "cc")
_CLANG = ("clang-19", "ld.lld-19", "llvm-ar-19")
TOOLCHAIN_TOOLS = {
    "host": (),
    "arm-gnu": ("arm-none-eabi-gcc",),
    "arm-llvm": (*_CLANG, "arm-none-eabi-gcc"),
    "arm-user-gnu": ("arm-none-eabi-gcc",),
    "aarch64-llvm": _CLANG,
    "hexagon-llvm": _CLANG,
}


def path(name: str) -> str:
    """The full path of program `name`; an SdkError with the remedy when missing."""
    program = shutil.which(name)
    if program is not None:
        return program
    tool = TOOLS.get(name)
    raise MissingToolError(
        f"{name} is missing{f': it {tool.purpose}' if tool else ''}",
        hint=f"install it: {tool.install}" if tool else "put it on the PATH",
    )


def first(*names: str) -> str:
    """The first of `names` that is installed."""
    for name in names:
        program = shutil.which(name)
        if program is not None:
            return program
    return path(names[0])


def needed(board: Board, toolchain: str | None = None) -> list[str]:
    """The programs that building for `board` and running it there take."""
    names = [*_ALWAYS, *TOOLCHAIN_TOOLS.get(toolchain or board.toolchain, ())]
    if board.pointer_bytes == 4:
        # The loader runs at the board's pointer width on the host.
        names += [*TOOLCHAIN_TOOLS["arm-user-gnu"], "qemu-arm"]
    if board.runner.binary:
        names.append(board.runner.binary)
    return list(dict.fromkeys(names))


@functools.cache
def version(name: str) -> str | None:
    """The version that program `name` reports; None when it is not installed."""
    on_path = shutil.which(name)
    if on_path is None:
        return None
    program = Path(on_path).resolve()
    if not _is_itself(program, name):
        return _asked(on_path)
    answer: str = _kept(program, f"version of {name}", lambda: _asked(on_path))
    return answer


def _kept(program: Path, what: str, ask: Callable[[], Any]) -> Any:
    """An answer of a program, kept until its file is another."""
    facts = program.stat()
    stamp = [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino]
    return kept.kept(what, f"{program} {stamp}", ask)


@functools.cache
def takes_plugins(emulator: str) -> bool:
    """Whether it can count: those that are linked statically, as Debian 13's for user
    mode are, load no plugins. True of one that is not installed."""
    program = shutil.which(emulator)
    if program is None:
        return True

    def ask() -> bool:
        words = [program, "-help"]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        return "-plugin" in done.stdout

    answer: bool = _kept(Path(program).resolve(), f"plugins of {emulator}", ask)
    return answer


def _is_itself(program: Path, name: str) -> bool:
    """Whether a file called `name` stands for no other program, as ccache does, or a
    script that chooses one."""
    try:
        with program.open("rb") as file:
            return program.name in name and file.read(2) != b"#!"
    except OSError:  # it may be run, but not read
        return False


def _asked(program: str) -> str:
    done = subprocess.run(
        [program, "--version"], check=False, capture_output=True, text=True
    )
    match = re.search(r"\d+\.\d+(\.\d+)*", done.stdout)
    return match[0] if match else "unknown"


def full_version(name: str) -> str | None:
    """The version of the compiler `name` to the last digit, where it says that."""
    words = [path(name), "-dumpfullversion", "-dumpversion"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    return done.stdout.strip() or version(name)


def newlib_version(compiler: str) -> str | None:
    """The version of the C library that a compiler for Cortex-M comes with."""
    done = subprocess.run(
        [path(compiler), "-E", "-dM", "-"],
        input="#include <_newlib_version.h>\n",
        check=False,
        capture_output=True,
        text=True,
    )
    match = re.search(r'_NEWLIB_VERSION "([^"]+)"', done.stdout)
    return match[1] if match else None


def has_newlib() -> bool:
    """Whether arm-none-eabi-gcc comes with a C library."""
    compiler = shutil.which("arm-none-eabi-gcc")
    if compiler is None:
        return False
    words = [compiler, "-print-file-name=libc.a"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    return Path(done.stdout.strip()).is_absolute()


# ---- CMake --------------------------------------------------------------------------


def cmake_arguments(board: Board, toolchain: str | None = None) -> list[str]:
    """The -D options that tell Ember's CMake files the board and its compiler."""
    name = toolchain or board.toolchain
    if name not in board.toolchains:
        raise SdkError(
            f"board {board.name} does not support toolchain '{name}'",
            hint=f"its toolchains: {', '.join(board.toolchains)}",
        )
    options = {
        "CMAKE_TOOLCHAIN_FILE": str(paths.toolchains() / f"{name}.cmake"),
        "EMBER_BOARD": board.name,
        "EMBER_CPU": board.cpu,
        "EMBER_PORT": board.port,
    }
    if board.core is not None and board.core.flags:
        options["EMBER_CORE_FLAGS"] = board.core.flags
    if board.sanitize:
        options["EMBER_SANITIZE"] = ";".join(board.sanitize)
    if name == "hexagon-llvm":
        options["EMBER_HEXAGON_RUNTIME"] = str(hexagon_runtime())
    return [f"-D{key}={value}" for key, value in options.items()]


def hexagon_runtime() -> Path:
    """clang's run-time routines for Hexagon, taken once out of the ziglang package."""
    archive = paths.cache() / "hexagon-runtime" / f"librt-v66-{_zig_version()}.a"
    if kept.found(archive):
        return archive
    paths.writable_folder(archive.parent)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        place = Path(folder)
        (place / "empty.zig").write_text("export fn ember_zig_unused() void {}\n")
        words = [sys.executable, "-m", "ziglang", "build-lib", "empty.zig"]
        words += ["-target", "hexagon-freestanding-none", "-mcpu", "hexagonv66"]
        words += ["-O", "ReleaseFast", "-fcompiler-rt", "--name", "rt"]
        caches = {
            "ZIG_GLOBAL_CACHE_DIR": str(place / "global"),
            "ZIG_LOCAL_CACHE_DIR": str(place / "local"),
        }
        done = subprocess.run(
            words,
            check=False,
            cwd=place,
            env={**os.environ, **caches},
            capture_output=True,
            text=True,
        )
        linked = place / "librt.a"
        if done.returncode != 0 or not linked.is_file():
            raise SdkError(
                "cannot build the Hexagon run-time library with ziglang:"
                f" {done.stderr.strip()[:300]}",
                hint=f"install it again: {ZIGLANG_INSTALL}",
            )
        kept.put(linked, archive)
    return archive


def _zig_version() -> str:
    from importlib import metadata  # slow, and only Hexagon needs it

    try:
        return metadata.version("ziglang")
    except metadata.PackageNotFoundError:
        raise MissingToolError(
            "Hexagon needs the run-time library from the Python package ziglang,"
            " which is not installed",
            hint=f"install it: {ZIGLANG_INSTALL}",
        ) from None


# ---- C for the host ------------------------------------------------------------------


_HOST_FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared")


def host_library(
    name: str, sources: Sequence[Path], headers: Sequence[Path] = ()
) -> Path:
    """The library of `sources`, from the cache folder when they have not changed."""
    digest = hashlib.sha256(" ".join(_HOST_FLAGS).encode())
    for file in (*sources, *headers):
        digest.update(file.read_bytes())
    library = paths.cache() / name / f"ember_{name}-{digest.hexdigest()[:16]}.so"
    if kept.found(library):
        return library
    paths.writable_folder(library.parent)
    compiler = first("cc", "gcc", "clang", "clang-19")
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        linked = Path(folder) / library.name
        words = [compiler, *_HOST_FLAGS, *map(str, sources)]
        done = subprocess.run(
            [*words, "-o", str(linked)], check=False, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise SdkError(
                f"cannot compile {name}: {done.stderr.strip()[:300]}",
                hint=f"try it yourself: {' '.join(words)}",
            )
        kept.put(linked, library)
    return library
