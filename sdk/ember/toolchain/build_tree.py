"""CMake and Ninja compile the C libraries of one kind of board, in a build tree.

The host compiles the variants for every instruction set, with models of the intrinsics
in C (kernels/models). A variant with an intrinsic that has no model is left out on the
host; boards with its instruction set need it, and are told.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ember import kernels, paths, progress, writing
from ember.boards import Board, isa
from ember.errors import SdkError, problem_list
from ember.toolchain import tools

# Flags follow from a core, not from its name, so cores with the same flags share; and
# ports, of which a tree has all that the toolchain knows.
_NAMES = ("-DEMBER_BOARD=", "-DEMBER_CPU=", "-DEMBER_PORT=")
# CMake would compile a program to find out sizes of types, which nobody asks for.
_MANY, _ALL = 10, 500  # files: announced once, and when all kernels are compiled
_announced: set[tuple[Path, bool]] = set()
STAMP = "toolchains.txt"  # a tree without is made again
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
        raise board.has_only_sources()
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
    stamp = config.build / STAMP
    toolchains = f"{config.build} {_toolchains_digest(config.toolchain)}"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != toolchains:
        _configure(config, what)
        stamp.write_text(toolchains, encoding="utf-8")
    modelled = config.toolchain in isa.MODELLED
    if modelled:
        write_left_out(config.build, {})  # a model may have been added since
    failed, output = _ninja(config, what, targets, keep_going=modelled)
    left_out = unmodelled(output) if failed and modelled else {}
    if left_out:
        write_left_out(config.build, left_out)
        # Of `targets` Ninja made all that can be made, and knows the others no more.
        failed, output = (False, output) if targets else _ninja(config, what, ())
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
        output = "".join(_counted(process.stdout, step, config))
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
    write_left_out(config.build, {})
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


def _counted(
    lines: Iterable[str], step: progress.Activity, config: Config
) -> Iterator[str]:
    """The same lines; the step follows Ninja's "[3/120]". Many files are announced."""
    for line in lines:
        match = re.match(r"\[(\d+)/(\d+)\]", line)
        if match:
            done, total = map(int, match.groups())
            step.of(done, total)
            if total >= _MANY and (config.build, total >= _ALL) not in _announced:
                _announced.add((config.build, total >= _ALL))
                progress.say(
                    f"ember: compiling {total} files for {config.board.cpu}, once:"
                    f" {_why(config)}"
                )
        yield line


def _why(config: Config) -> str:
    if config.toolchain in isa.MODELLED:
        return "the host runs kernels to choose them and to compare passes"
    return "firmware links what it calls of them"


# ---- tools --------------------------------------------------------------------------


class ToolError(SdkError):
    """A compiler or linker failed; `output` is everything that it printed."""

    def __init__(self, what: str, output: str, hint: str | None = None) -> None:
        super().__init__(what, hint)
        self.output = output


def run(words: Sequence[str], what: str, folder: Path | None = None) -> str:
    """What a tool says, run in `folder` or here; ToolError: that `what` failed, why."""
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
    return done.stdout


# What message(FATAL_ERROR) of a CMake file said, indented and wrapped by CMake.
_MESSAGE = re.compile(
    r"^CMake Error at \S+ \(message\):\n((?:  .*\n|\n)+)", re.MULTILINE
)


# What Ninja says of an object that was not compiled, and its source.
_OBJECT = re.compile(r"FAILED: (?:\[code=\d+\] )?\S*\.dir/(\S+\.c)\.o(?:bj)?\b")


def _errors(output: str) -> list[str]:
    """The compiler's errors, without its repetitions of the command line."""
    stopped = _MESSAGE.findall(output)
    if stopped:
        return [" ".join(text.split()) for text in stopped]
    pattern = re.compile(
        r"error: (?!ld returned)|undefined (reference|symbol)|multiple definition"
        r"|CMake Error|overflow|Unknown destination type|dangerous relocation"
    )
    source = ""
    lines = []
    for line in map(str.strip, output.splitlines()):
        if failed := _OBJECT.match(line):
            source = failed[1]
        elif pattern.search(line):
            of_header = re.match(r"\S+\.h:\d", line) and source
            lines.append(f"{line} (of {source})" if of_header else line)
    root = f"{paths.root()}/"
    errors = [line.replace(root, "") for line in dict.fromkeys(lines)]
    return errors or output.strip().splitlines()[-3:] or ["it printed nothing"]


# ---- intrinsics without a model ------------------------------------------------------


LEFT_OUT = "left_out.txt"  # of a build tree; CMakeLists.txt reads it
_FAILED = re.compile(
    r"^FAILED: (?:\[code=\d+\] )?\S*ember_variants\.dir/(\S+\.c)\.o(?:bj)?\s*$",
    re.MULTILINE,
)
_NAME = r"['‘](\w+)['’]"  # noqa: RUF001 - GCC's quotes
_UNKNOWN = re.compile(
    rf"error: (?:implicit declaration of function|call to undeclared (?:library )?"
    rf"function|use of undeclared identifier|unknown type name) {_NAME}"
    rf"|error: {_NAME} undeclared"
)


def unmodelled(output: str) -> dict[str, str]:
    """By source file, the intrinsic that stopped it; nothing when another error did."""
    listed = {
        kernel
        for known in kernels.load().operators.values()
        for kernel in known.kernels
    }
    for backend in kernels.load().backends.values():
        listed.update(backend.kernels)
    first, *parts = _FAILED.split(output)
    names: dict[str, str] = {}
    for source, text in zip(parts[::2], parts[1::2], strict=True):
        match = _UNKNOWN.search(text)
        if match is None or PurePosixPath(source).stem not in listed:
            return {}
        names[source] = match[1] or match[2]
    return {} if "FAILED: " in first + "".join(parts[1::2]) else names


def write_left_out(build: Path, names: Mapping[str, str]) -> None:
    """Tell CMake which files to leave out; the file is only written when it changes."""
    text = "".join(f"{source} {name}\n" for source, name in sorted(names.items()))
    path = build / LEFT_OUT
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        build.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def left_out(folder: Path) -> dict[str, str]:
    """By kernel, the intrinsic for want of which it was left out."""
    path = folder / LEFT_OUT
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    pairs = (line.split() for line in lines)
    return {PurePosixPath(source).stem: name for source, name in pairs}


def need_models(wanted: Iterable[str], unmodelled: Mapping[str, str], why: str) -> None:
    """Raises SdkError if one of the kernels is left out: `why` the host must run it."""
    problems = [
        f"{kernel} uses {unmodelled[kernel]}"
        for kernel in sorted(set(wanted) & unmodelled.keys())
    ]
    if problems:
        raise SdkError(
            problem_list(
                f"kernels/models has no model of an intrinsic; {why}", problems
            ),
            hint="add a function of that name in C to a header of kernels/models, "
            "as docs/kernels.md says",
        )
