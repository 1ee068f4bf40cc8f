"""Compiled libraries with their board's compiler: C becomes objects, these firmware.

Objects of the runtime's C and of generated C are kept beside the libraries:
applications, the test runner and consoles are the same in nearly every firmware, and
tables in each that is built of the same models.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from ember import kept, paths, progress
from ember.boards import Board
from ember.errors import SdkError, problem_list
from ember.toolchain import footprint
from ember.toolchain.build_tree import Config, ToolError, run
from ember.toolchain.user_code import UserCode

PARTS = ("libember_backends.a", "libember_variants.a", "libember_kernels.a")
CORE, PREPARED = "libember_core.a", "libember_prepared.a"
_KEPT = 256  # objects beside one kind of libraries


@dataclass(frozen=True)
class Libraries:
    """Libraries of one board, and how its compiler makes firmware with them."""

    board: Board
    config: Config
    folder: Path
    messages: bool  # whether failures carry sentences
    compiler: str  # of applications
    flags: tuple[str, ...]
    plain_compiler: str  # of the SDK's own C, without special instructions
    plain_flags: tuple[str, ...]
    warnings: tuple[str, ...]
    kernel_option: str  # of optimisation
    ar: str
    link_rule: str
    link_flags: tuple[str, ...]
    objects: tuple[Path, ...]
    archives: tuple[Path, ...]
    prepared: Path  # the archive that firmware of prepared methods has for the core
    system: tuple[str, ...]
    record: Mapping[str, str]  # what CMake said of them
    # Kernels left out, by the intrinsic that has no model (build_tree.py).
    unmodelled: Mapping[str, str] = field(default_factory=dict)
    console: str = ""  # names the objects of the board's own

    @property
    def key(self) -> str:
        """Names the content of the libraries; changes when anything in them does."""
        return self.folder.name + self.console

    def sources(self, archive: str) -> tuple[Path, ...]:
        """Of each member of `libember_kernels`, say, in order."""
        return paths_in(self.record[archive])

    def members(self, archive: str) -> tuple[Path, ...]:
        """The objects of the same members, in the build tree."""
        names = paths_in(self.record[f"{archive}.objects"])
        return tuple(self.config.build / name for name in names)

    def for_prepared(self) -> Libraries:
        """The same to link firmware of prepared methods (prepared.py) with."""
        archives = [
            self.prepared if path.name == CORE else path for path in self.archives
        ]
        return replace(self, archives=tuple(archives))

    @property
    def optional_archives(self) -> tuple[Path, ...]:
        """Of kernels and backends: missing where libraries are not whole."""
        return tuple(path for path in self.archives if path.name in PARTS)

    @property
    def is_whole(self) -> bool:
        """Whether the archives of all kernels and backends are there."""
        return all(path.is_file() for path in self.optional_archives)

    @property
    def all_archives(self) -> list[Path]:
        """Ours and the system's, in the linker's order."""
        optional = [
            _system_archive(self.compiler, self.flags, word[2:])
            if word.startswith("-l")
            else Path(word)
            for word in self.system
        ]
        return [*self.archives, *optional]

    @property
    def uses_lld(self) -> bool:
        return any("lld" in word for word in (self.link_rule, *self.link_flags))

    def compile(
        self,
        sources: Sequence[Path],
        folder: Path,
        options: Sequence[str] = (),
        *,
        given: UserCode | Sequence[Path] = (),
    ) -> list[Path]:
        """Compile C or assembly files to objects in `folder`.

        Those that are `given`, by a user, may have all instructions of the board, and
        have the warnings that the user asks for.
        """
        folder = folder.absolute()
        code = given
        if not isinstance(code, UserCode):
            code = UserCode(tuple(code), folder=folder)
        outputs = [folder / f"{i}_{s.stem}.o" for i, s in enumerate(sources)]

        def compile_one(source: Path, target: Path) -> None:
            source = source.absolute()
            if source in code.sources:
                self._compile_given(source, target, options, code)
            elif _is_ours(source, options):
                told = [word for word in options if not word.startswith("-I")]
                place = object_place(self.folder, source, told)
                _make(place, lambda o: self._compile(source, o, told))
                shutil.copy(place, target)
            else:
                self._compile(source, target, options)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, sources, outputs))
        return outputs

    def _compile(self, source: Path, target: Path, options: Sequence[str]) -> None:
        warnings = self.warnings if source.suffix == ".c" else ()
        words = [self.plain_compiler, *self.plain_flags, "-Os", *warnings]
        if source.suffix == ".S":  # Ember's folder may have a model of the same name
            words += [f"-I{source.parent}"]
        words += self._told(source, target, options)
        # Assemblers look for included files in the folder that they run in first, where
        # a user may have a program of the same name.
        run(words, f"cannot compile {source}", target.parent)

    def _compile_given(
        self, source: Path, target: Path, options: Sequence[str], given: UserCode
    ) -> None:
        words = [self.compiler, *self.flags, "-std=gnu11", "-Os"]
        words += [f"-ffile-prefix-map={path}=app" for path in given.folders]
        ours = self._told(source, target, options)
        # Nor do our headers warn of anything.
        words += [re.sub("^-I", "-isystem", word) for word in ours] + given.words
        if source.suffix != ".c":  # clang: assembly includes nothing
            words.append("-Wno-unused-command-line-argument")
        warned = run(words, f"cannot compile {source}", given.folder)
        if warned:
            _show(warned)

    def _told(self, source: Path, target: Path, options: Sequence[str]) -> list[str]:
        """What any source is compiled with, and where to."""
        # Objects hold no folder names: firmware is the same wherever it is made.
        places = {paths.root(): "ember", target.parent: "build", source.parent: "app"}
        return [
            *(f"-ffile-prefix-map={path}={name}" for path, name in places.items()),
            *(f"-I{paths.runtime() / 'include'}", f"-I{paths.root()}"),
            f"-DEMBER_ERROR_STRINGS={int(self.messages)}",
            *(_without_here(word) for word in options),
            *("-c", str(source), "-o", str(target)),
        ]

    def link(
        self,
        objects: Sequence[Path],
        firmware: Path,
        *,
        script: Path | None = None,
        map_file: Path | None = None,
        overlap: bool = False,
    ) -> None:
        """Link objects, port and libraries to `firmware`; with `overlap`, sections may
        have the same addresses.

        SdkError, when it does not fit the board by how many bytes.
        """
        direct = "<CMAKE_C_COMPILER>" not in self.link_rule  # the linker itself
        options = list(self.link_flags)
        if script is not None:
            options += ["-T", str(script)]
        if map_file is not None:  # not after -Wl, for its path may have commas
            options += [*([] if direct else ["-Xlinker"]), f"-Map={map_file}"]
        if overlap:
            options.append(f"{'' if direct else '-Wl,'}--no-check-sections")
        group = ["--start-group", *map(str, self.archives), *self.system, "--end-group"]
        parts = {
            "<CMAKE_C_COMPILER>": [self.compiler],
            "<FLAGS>": list(self.flags),
            "<CMAKE_C_LINK_FLAGS>": [],
            "<LINK_FLAGS>": options,
            "<OBJECTS>": [*map(str, objects), *map(str, self.objects)],
            "<TARGET>": [str(firmware)],
            "<LINK_LIBRARIES>": [
                word if direct or not word.endswith("-group") else f"-Wl,{word}"
                for word in group
            ],
        }
        words: list[str] = []
        for word in shlex.split(self.link_rule):
            words += parts.get(word, [word])
        try:
            run(words, f"cannot link {firmware.name}")
        except ToolError as error:
            too_big = overflow(error.output, self.board)
            raise (too_big or error) from None
        if map_file is not None:
            footprint.make_portable(map_file, self._names(objects, firmware))

    def _names(self, objects: Sequence[Path], firmware: Path) -> dict[Path, str]:
        """What stands for folders in a map; those of the compiler stay."""
        kept = {Path(word).parent: "toolchain" for word in self.system if "/" in word}
        kept |= {path.parent: "kernels" for path in objects}  # of the user
        kept |= {path.parent: "ember" for path in (*self.archives, *self.objects)}
        return {**kept, firmware.parent: "build"}


@functools.cache  # once: firmware may be compiled again with other options
def _show(warnings: str) -> None:
    with progress.hidden():
        sys.stderr.write(warnings)


def _without_here(word: str) -> str:
    """An option that means the same in every folder."""
    return f"-I{Path(word[2:]).absolute()}" if word.startswith("-I") else word


@functools.cache
def _system_archive(compiler: str, flags: tuple[str, ...], name: str) -> Path:
    """The file that a compiler takes for -l`name`."""
    words = [compiler, *flags, f"-print-file-name=lib{name}.a"]
    done = subprocess.run(words, check=False, capture_output=True, encoding="utf-8")
    return Path(done.stdout.strip())


@functools.lru_cache(maxsize=64)  # there are hundreds in each
def paths_in(words: str) -> tuple[Path, ...]:
    return tuple(Path(word) for word in words.split(";") if word)


# ---- objects that are kept ----------------------------------------------------------


def _folders() -> tuple[Path, Path]:
    """Where the runtime's sources are that libraries have nothing of."""
    return paths.runtime() / "app", paths.runtime() / "port" / "uart"


def _is_ours(source: Path, options: Sequence[str]) -> bool:
    """Whether a source includes only headers beside it and the runtime's: one of the
    runtime, or generated in a folder of `options`."""
    if source.suffix != ".c":  # assembly includes models
        return False
    package = f"-I{source.parent}"
    return source.parent in _folders() or package in options


def object_place(libraries: Path, source: Path, options: Sequence[str]) -> Path:
    """Where the object is kept: `libraries` is a folder that compiler, flags and all
    other sources name."""
    digest = hashlib.sha256(_headers_of_runtime(_folders()))
    if source.parent not in _folders():
        digest.update(_headers([source.parent]))
    digest.update("\0".join(options).encode() + b"\0" + source.read_bytes())
    return libraries / "own" / f"{source.stem}-{digest.hexdigest()[:16]}.o"


def _make(target: Path, compile_to: Callable[[Path], None]) -> None:
    """Compile it, unless it is there."""
    if kept.found(target):
        return
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        compiled = Path(folder) / target.name
        compile_to(compiled)
        kept.put(compiled, target)
    kept.forget_old(target.parent.glob("*.o"), _KEPT)


# As they were when the process first asked, like the libraries' sources.
@functools.cache
def _headers_of_runtime(places: tuple[Path, ...]) -> bytes:
    return _headers(places)


def _headers(places: Iterable[Path]) -> bytes:
    digest = hashlib.sha256()
    for folder in places:
        for path in sorted(folder.glob("*.h")):
            digest.update(path.name.encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


# ---- what the linker says when it does not fit --------------------------------------

_LLD = re.compile(
    r"section '(?P<section>[^']+)' will not fit in region '(?P<region>[^']+)':"
    r" overflowed by (?P<bytes>\d+) bytes"
)
_GNU = re.compile(r"region `(?P<region>[^']+)' overflowed by (?P<bytes>\d+) bytes")


class DoesNotFitError(SdkError):
    """A memory of the board is too small; the sentence says by how much."""


def lacking(memory: str, needed: int, capacity: int) -> str:
    """That `memory` has less than the `needed` bytes."""
    return (
        f"memory {memory} needs {needed:,} bytes, {needed - capacity:,} more than the"
        f" {capacity:,} it has"
    )


def overflow(output: str, board: Board) -> DoesNotFitError | None:
    """The linker's complaint about room as one error; None when it made none."""
    worst: dict[str, int] = {}
    for match in (*_LLD.finditer(output), *_GNU.finditer(output)):
        region = match["region"]
        worst[region] = max(worst.get(region, 0), int(match["bytes"]))
    if not worst:
        return None
    problems = [
        lacking(name, board.memory(name).size + extra, board.memory(name).size)
        for name, extra in sorted(worst.items())
    ]
    return DoesNotFitError(
        problem_list(f"the firmware does not fit {board.name}", problems),
        hint="use a smaller model or a board with more memory",
    )
