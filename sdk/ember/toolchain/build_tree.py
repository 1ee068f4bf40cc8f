"""CMake and Ninja compile the C libraries of one kind of board, in a build tree."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember import paths, progress, writing
from ember.boards import Board, isa
from ember.errors import SdkError, problem_list
from ember.toolchain import models, tools

# Flags follow from a core, not from its name, so cores with the same flags share; and
# ports, of which a tree has all that the toolchain knows.
_NAMES = ("-DEMBER_BOARD=", "-DEMBER_CPU=", "-DEMBER_PORT=")
# CMake would compile a program to find out sizes of types, which nobody asks for.
_KNOWN = "-DCMAKE_C_ABI_COMPILED=TRUE"


@dataclass(frozen=True)
class Config:
    """Everything that CMake is told; boards with equal values share libraries."""

    board: Board
    toolchain: str
    messages: bool
    optimize: str = "balanced"  # libraries.Optimize

    @functools.cached_property
    def arguments(self) -> list[str]:
        told = tools.cmake_arguments(self.board, self.toolchain)
        flags = self.board.core.flags if self.board.core else ""
        variants = isa.cmake_options(self.board.isa, self.toolchain, flags)
        return [
            *(word for word in told if not word.startswith(_NAMES)),
            *(f"-D{key}={value}" for key, value in variants.items()),
            f"-DEMBER_ERROR_STRINGS={int(self.messages)}",
            f"-DEMBER_OPTIMIZE={'speed' if self.optimize == 'speed' else 'size'}",
            _KNOWN,
        ]

    @functools.cached_property
    def folder(self) -> Path:
        text = "\n".join([str(paths.root()), *self.arguments])
        tag = hashlib.sha256(text.encode()).hexdigest()[:8]
        # CMake and Ninja know files by the name without links.
        folder = (paths.cache() / "libraries" / f"{self.toolchain}-{tag}").resolve()
        return paths.writable_folder(folder)

    @property
    def build(self) -> Path:
        return self.folder / "build"


def need_tools(board: Board, toolchain: str) -> None:
    """SdkError names what is missing, and its package."""
    if board.port == "library":
        raise SdkError(
            f"board {board.name} is for sources in a project of its own, which is what"
            " `port: library` says: firmware needs another port",
            hint="use `ember package`, or give its file a port of docs/boards.md",
        )
    for name in ("cmake", "ninja", *tools.TOOLCHAIN_TOOLS.get(toolchain, ())):
        tools.path(name)
    if toolchain == "host":
        tools.first("cc", "gcc", "clang")
    if board.port == "cortexm" and not tools.has_newlib():
        raise tools.MissingToolError(
            "newlib, the C library for Cortex-M, is not installed",
            hint=f"install it: apt-get install {tools.NEWLIB_PACKAGE}",
        )


def compile_libraries(config: Config, targets: Sequence[str] = ()) -> None:
    """Make the tree's archives and objects up to date, or some `targets` of Ninja.

    SdkError with what is wrong.
    """
    what = f"the C libraries for {config.board.cpu}"
    # CMake reads a toolchain file's flags, and finds the compilers, once: another file
    # or another place, another build tree.
    stamp = config.build / "toolchains.txt"
    toolchains = _toolchains_digest(config.toolchain)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != toolchains:
        _configure(config, what)
        stamp.write_text(toolchains, encoding="utf-8")
    modelled = config.toolchain in isa.MODELLED
    if modelled:
        models.write(config.build, {})  # a model may have been added since
    failed, output = _ninja(config, what, targets, keep_going=modelled)
    left_out = models.missing(output) if failed and modelled else {}
    if left_out:
        models.write(config.build, left_out)
        failed, output = _ninja(config, what, targets)
    if failed and writing.says_full(output):
        # Ninja takes what was half written for finished.
        shutil.rmtree(config.build, ignore_errors=True)
        raise writing.full(f"cannot compile {what} in {config.folder}")
    (config.folder / "build.log").write_text(output, encoding="utf-8")
    if failed:
        raise SdkError(
            problem_list(f"cannot compile {what}", _errors(output), shown=5),
            hint=f"full compiler output: {config.folder / 'build.log'}",
        )


def _ninja(
    config: Config, what: str, targets: Sequence[str], *, keep_going: bool = False
) -> tuple[bool, str]:
    """Whether Ninja failed, and what it said; to `keep_going` shows all errors."""
    words = ["ninja", "-C", str(config.build), *(["-k0"] if keep_going else ())]
    with (
        progress.doing(f"compiling {what}") as step,
        subprocess.Popen(
            [*words, *targets],
            env={**os.environ, "NINJA_STATUS": "[%f/%t] ", "LC_ALL": "C"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        output = "".join(_counted(process.stdout, step))
    return process.returncode != 0, output


def _toolchains_digest(toolchain: str) -> str:
    files = sorted(paths.toolchains().glob("*.cmake"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    for name in compilers(toolchain):
        digest.update(f"{shutil.which(name)}\n".encode())
    return digest.hexdigest()


def compilers(toolchain: str) -> tuple[str, ...]:
    """The programs whose versions decide the output."""
    return tools.TOOLCHAIN_TOOLS.get(toolchain) or ("cc",)


def _configure(config: Config, what: str) -> None:
    shutil.rmtree(config.build, ignore_errors=True)
    models.write(config.build, {})
    words = ["cmake", "-G", "Ninja", "-S", str(paths.root()), "-B", str(config.build)]
    try:
        run([*words, *config.arguments], f"cannot configure {what}")
    except ToolError as error:
        if not _takes_bytes(config.build):  # CMake does not say so
            raise writing.full(f"cannot configure {what} in {config.build}") from error
        raise


def _takes_bytes(folder: Path) -> bool:
    """Whether the disk has room."""
    try:
        writing.write(folder / "room", bytes(1 << 16))
        (folder / "room").unlink()
    except (SdkError, OSError):
        return False
    return True


def _counted(lines: Iterable[str], step: progress.Activity) -> Iterator[str]:
    """The same lines; the step follows Ninja's "[3/120]"."""
    for line in lines:
        match = re.match(r"\[(\d+)/(\d+)\]", line)
        if match:
            step.of(*map(int, match.groups()))
        yield line


# ---- tools --------------------------------------------------------------------------


class ToolError(SdkError):
    """A compiler or linker failed; `output` is everything that it printed."""

    def __init__(self, what: str, output: str, hint: str | None = None) -> None:
        super().__init__(what, hint)
        self.output = output


def run(words: Sequence[str], what: str, folder: Path | None = None) -> None:
    """Run a tool, in `folder` or here; ToolError says `what` failed, and why."""
    done = subprocess.run(
        list(words),
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode != 0 and writing.says_full(done.stdout):
        raise writing.full(what)
    if done.returncode != 0:
        install = re.search(r"install it: (.*)", done.stdout)
        raise ToolError(
            problem_list(what, _errors(done.stdout), shown=5),
            done.stdout,
            hint=install[0] if install else None,
        )


# What message(FATAL_ERROR) of a CMake file said, indented and wrapped by CMake.
_MESSAGE = re.compile(
    r"^CMake Error at \S+ \(message\):\n((?:  .*\n|\n)+)", re.MULTILINE
)


def _errors(output: str) -> list[str]:
    """The compiler's errors, without its repetitions of the command line."""
    stopped = _MESSAGE.findall(output)
    if stopped:
        return [" ".join(text.split()) for text in stopped]
    pattern = re.compile(r"error:|undefined (reference|symbol)|CMake Error|overflow")
    lines = [line.strip() for line in output.splitlines() if pattern.search(line)]
    root = f"{paths.root()}/"
    errors = [line.replace(root, "") for line in dict.fromkeys(lines)]
    return errors or output.strip().splitlines()[-3:] or ["it printed nothing"]
