"""Programs that the SDK calls: where they are, and what installs a missing one."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ember import kept, paths
from ember.boards import Board
from ember.errors import SdkError


class MissingToolError(SdkError):
    """A program is not installed; the hint says how to get it."""


@dataclass(frozen=True)
class Tool:
    """A program and the Debian packages that bring it."""

    name: str
    package: str
    purpose: str

    @property
    def install(self) -> str:
        return f"apt-get install {self.package}"


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("cc", "gcc libc6-dev", "compiles the host board and the emulator plugin"),
        Tool("cmake", "cmake", "builds the C libraries"),
        Tool("ninja", "ninja-build", "runs the builds"),
        Tool("arm-none-eabi-gcc", "gcc-arm-none-eabi", "compiles for Cortex-M"),
        Tool("clang-19", "clang-19", "compiles for Helium, Arm64 and Hexagon"),
        Tool("ld.lld-19", "lld-19", "links for Helium, Arm64 and Hexagon"),
        Tool("llvm-ar-19", "llvm-19", "packs libraries, converts firmware"),
        Tool("llvm-objdump-19", "llvm-19", "reads code for --cycles"),
        Tool("llvm-mca-19", "llvm-19", "has models of cores for --cycles"),
        Tool("qemu-system-arm", "qemu-system-arm", "runs Cortex-M boards"),
        Tool("qemu-system-aarch64", "qemu-system-arm", "runs Arm64 boards"),
        Tool("qemu-aarch64", "qemu-user", "runs Arm64 programs of Linux"),
        Tool("qemu-hexagon", "qemu-user", "runs Hexagon programs"),
        Tool("qemu-arm", "qemu-user", "runs the loader with 32-bit pointers"),
    )
}
NEWLIB_PACKAGE = "libnewlib-arm-none-eabi"
ZIGLANG_INSTALL = f"{sys.executable} -m pip install ziglang"

OPTIONAL = ("llvm-objdump-19", "llvm-mca-19")  # where instructions are counted

_ALWAYS = ("cmake", "ninja", "cc")
_LLVM = ("clang-19", "ld.lld-19", "llvm-ar-19")
TOOLCHAIN_TOOLS = {
    "host": (),
    "arm-gnu": ("arm-none-eabi-gcc",),
    "arm-llvm": (*_LLVM, "arm-none-eabi-gcc"),
    "arm-user-gnu": ("arm-none-eabi-gcc",),
    "aarch64-llvm": _LLVM,
    "hexagon-llvm": _LLVM,
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
        # The loader runs at the board's pointer width on this computer.
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
    facts = program.stat()
    stamp = [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino]
    answer: str = kept.kept(
        f"version of {name}", f"{program} {stamp}", lambda: _asked(on_path)
    )
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
    if archive.is_file():
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
        os.replace(linked, archive)  # noqa: PTH105 - atomic, also over another's
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
