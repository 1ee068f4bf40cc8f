"""A board becomes compiled C libraries, kept in the cache by what they were made of."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ember import kept, paths
from ember.boards import Board
from ember.errors import SdkError
from ember.toolchain import consoles, linker, linkmap, models, own_objects, tools
from ember.toolchain.build_tree import (
    Config,
    ToolError,
    compile_libraries,
    compilers,
    need_tools,
    run,
)

_ROOT, _FOLDERS = "CMakeLists.txt", ("runtime_c", "backends", "kernels", "toolchains")
_SUFFIXES = (".c", ".h", ".S", ".inc", ".cmake", ".txt")
_KEPT = 4  # finished libraries of one configuration
_RECORD = "ember.txt"
_OBJECTS = "objects_"  # and a port: the key of its objects in the record
_ALWAYS = "ember_always"  # the target of what every firmware links
PARTS = ("libember_backends.a", "libember_variants.a", "libember_kernels.a")
_CORE, _PREPARED = "libember_core.a", "libember_prepared.a"
# Which kernels are chosen, and what they are compiled for: the smallest at -Os, the
# fastest at -Os (on Cortex-M within 10 % of -O2 either way), the fastest at -O2.
Optimize = Literal["size", "balanced", "speed"]
DEFAULT_OPTIMIZE: Optimize = "balanced"


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
    # Kernels left out, by the intrinsic that has no model (models.py).
    unmodelled: Mapping[str, str] = field(default_factory=dict)
    console: str = ""  # names the objects of the board's own

    @property
    def key(self) -> str:
        """Names the content of the libraries; changes when anything in them does."""
        return self.folder.name + self.console

    def sources(self, archive: str) -> tuple[Path, ...]:
        """Of each member of `libember_kernels`, say, in order."""
        return _paths(self.record[archive])

    def members(self, archive: str) -> tuple[Path, ...]:
        """The objects of the same members, in the build tree."""
        return _paths(self.record[f"{archive}.objects"])

    def for_prepared(self) -> Libraries:
        """The same to link firmware of prepared methods (prepared.py) with."""
        archives = [
            self.prepared if path.name == _CORE else path for path in self.archives
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
        given: Sequence[Path] = (),
    ) -> list[Path]:
        """Compile C or assembly files to objects in `folder`.

        Those that are `given`, by a user, may have all instructions of the board.
        """
        folder = folder.absolute()
        outputs = [folder / f"{i}_{s.stem}.o" for i, s in enumerate(sources)]

        def compile_one(source: Path, target: Path) -> None:
            source, plain = source.absolute(), source not in given
            if plain and own_objects.is_ours(source, options):
                told = [word for word in options if not word.startswith("-I")]
                place = own_objects.place(self.folder, source, told)
                own_objects.make(place, lambda o: self._compile(source, o, told))
                shutil.copy(place, target)
            else:
                self._compile(source, target, options, plain=plain)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, sources, outputs))
        return outputs

    def _compile(
        self, source: Path, target: Path, options: Sequence[str], *, plain: bool = True
    ) -> None:
        compiler = self.plain_compiler if plain else self.compiler
        flags = self.plain_flags if plain else self.flags
        warnings = self.warnings if source.suffix == ".c" else ()
        # Objects hold no folder names: firmware is the same wherever it is made.
        places = {paths.root(): "ember", target.parent: "build", source.parent: "app"}
        words = [compiler, *flags, "-Os", *warnings]
        words += [f"-ffile-prefix-map={path}={name}" for path, name in places.items()]
        words += [f"-I{paths.runtime() / 'include'}", f"-I{paths.root()}"]
        words += [f"-DEMBER_ERROR_STRINGS={int(self.messages)}"]
        words += [_without_here(word) for word in options]
        words += ["-c", str(source), "-o", str(target)]
        # Assemblers look for included files in the folder that they run in first, where
        # a user may have a program of the same name.
        run(words, f"cannot compile {source}", target.parent)

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
            too_big = linker.overflow(error.output, self.board)
            raise (too_big or error) from None
        if map_file is not None:
            linkmap.make_portable(map_file, self._names(objects, firmware))

    def _names(self, objects: Sequence[Path], firmware: Path) -> dict[Path, str]:
        """What stands for folders in a map; those of the compiler stay."""
        kept = {Path(word).parent: "toolchain" for word in self.system if "/" in word}
        kept |= {path.parent: "kernels" for path in objects}  # of the user
        kept |= {path.parent: "ember" for path in (*self.archives, *self.objects)}
        return {**kept, firmware.parent: "build"}


def _without_here(word: str) -> str:
    """An option that means the same in every folder."""
    return f"-I{Path(word[2:]).absolute()}" if word.startswith("-I") else word


@functools.cache
def _system_archive(compiler: str, flags: tuple[str, ...], name: str) -> Path:
    """The file that a compiler takes for -l`name`."""
    words = [compiler, *flags, f"-print-file-name=lib{name}.a"]
    done = subprocess.run(words, check=False, capture_output=True, encoding="utf-8")
    return Path(done.stdout.strip())


def build(
    board: Board,
    *,
    messages: bool = False,
    toolchain: str | None = None,
    optimize: Optimize = DEFAULT_OPTIMIZE,
    console: bool = True,
    whole: bool = True,
) -> Libraries:
    """The libraries of `board`, compiled now unless the cache has them.

    With `messages`, failures carry sentences and kernels their names. Without
    `console`, log, files and exit are left to the caller. When they are not `whole`,
    the archives of kernels and backends may be missing: parts.of() makes them of what a
    firmware needs.
    """
    chosen = toolchain or board.toolchain
    need_tools(board, chosen)
    config = Config(board, chosen, messages, optimize)
    folder = config.folder / _content(config)
    if not _is_made(folder, whole):
        with locked(config):
            if not _is_made(folder, whole):
                compile_targets(config, () if whole else (_ALWAYS,))
                _publish(config, folder, whole)
    os.utime(folder)
    libs = _read(board, config, folder)
    return consoles.of_board(libs) if console else consoles.without(libs)


def _is_made(folder: Path, whole: bool) -> bool:
    record = folder / _RECORD
    if not record.is_file():
        return False
    names = _fields(record.read_text(encoding="utf-8"))["archives"].split(";")
    return not whole or all((folder / name).is_file() for name in names)


def built_key(
    board: Board,
    *,
    messages: bool = False,
    toolchain: str | None = None,
    optimize: Optimize = DEFAULT_OPTIMIZE,
) -> str | None:
    """The key of the libraries that build() would give; None: it would compile them."""
    config = Config(board, toolchain or board.toolchain, messages, optimize)
    folder = config.folder / _content(config)
    return folder.name if (folder / _RECORD).is_file() else None


def is_built(
    board: Board, *, messages: bool, optimize: Optimize = DEFAULT_OPTIMIZE
) -> bool:
    """Whether build() of the whole libraries would find them in the cache."""
    config = Config(board, board.toolchain, messages, optimize)
    return _is_made(config.folder / _content(config), whole=True)


def compile_targets(config: Config, targets: Sequence[str] = ()) -> None:
    """compile_libraries(); SdkError, when the sources are not what they were."""
    compile_libraries(config, targets)
    if _sources_digest(paths.root()) != first_sources_digest(paths.root()):
        raise SdkError(
            "Ember's sources changed during compilation",
            hint="run the command again",
        )


def _content(config: Config) -> str:
    """A name for all sources, the compiler's version and the options."""
    digest = hashlib.sha256("\n".join(config.arguments).encode())
    for name in compilers(config.toolchain):
        digest.update(f"{name} {tools.version(name)}\n".encode())
    digest.update(first_sources_digest(paths.root()))
    return digest.hexdigest()[:16]


def _sources_digest(root: Path) -> bytes:
    """Of every file that the libraries are made of."""
    skipped = {f"{root}/runtime_c/app", f"{root}/runtime_c/port/uart"}
    files = [f"{root}/{_ROOT}"]
    for name in _FOLDERS:
        files += kept.below(f"{root}/{name}", _SUFFIXES, skipped)
    return kept.digest(root, files)


# As they were when the process first asked: there are hundreds.
first_sources_digest = functools.cache(_sources_digest)


@contextlib.contextmanager
def locked(config: Config) -> Iterator[None]:
    """One process at a time in the build tree; the others wait."""
    with (config.folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _publish(config: Config, folder: Path, whole: bool) -> None:
    """Copy what a firmware needs out of the build tree; forget old copies."""
    record = _fields((config.build / _RECORD).read_text(encoding="utf-8"))
    archives = {
        Path(archive).name: Path(archive) for archive in record["archives"].split(";")
    }
    ports = _objects_of_ports(record)
    left_out = whole and models.read(config.build) != models.read(folder)
    if left_out or not (folder / _RECORD).is_file():
        always = {
            name: archive for name, archive in archives.items() if name not in PARTS
        }
        record |= {"archives": ";".join(archives)}
        record |= {port: ";".join(objects) for port, objects in ports.items()}
        files = {**always, **{k: v for port in ports.values() for k, v in port.items()}}
        if models.read(config.build):
            files[models.FILE] = config.build / models.FILE
        _publish_always(config.folder, folder, files, record)
    if whole:
        for name in set(archives).intersection(PARTS):
            _copy_at_once(archives[name], folder / name)
    finished = [path.parent for path in config.folder.glob(f"*/{_RECORD}")]
    finished = [path for path in finished if path != config.build]
    kept.forget_old(finished, _KEPT)


def _objects_of_ports(record: Mapping[str, str]) -> dict[str, dict[str, Path]]:
    """For each of the record's ports, the objects by the names that they get."""
    return {
        key: {
            f"{key.removeprefix(_OBJECTS)}_{index}_{Path(file).name}": Path(file)
            for index, file in enumerate(files.split(";"))
        }
        for key, files in record.items()
        if key.startswith(_OBJECTS)
    }


def _publish_always(
    parent: Path, folder: Path, files: Mapping[str, Path], record: Mapping[str, str]
) -> None:
    with tempfile.TemporaryDirectory(dir=parent) as temporary:
        place = Path(temporary) / "made"
        place.mkdir()
        for name, path in files.items():
            shutil.copy2(path, place / name)
        text = "".join(f"{key}={value}\n" for key, value in record.items())
        (place / _RECORD).write_text(text, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        place.rename(folder)


def _copy_at_once(source: Path, target: Path) -> None:
    """No other process sees half of it."""
    part = target.with_suffix(".part")
    shutil.copy2(source, part)
    part.replace(target)


def _fields(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value for key, _, value in pairs}


def _read(board: Board, config: Config, folder: Path) -> Libraries:
    fields = _fields((folder / _RECORD).read_text(encoding="utf-8"))

    def words(key: str) -> tuple[str, ...]:
        return tuple(word for word in fields[key].split(";") if word)

    return Libraries(
        board=board,
        config=config,
        folder=folder,
        messages=config.messages,
        compiler=fields["compiler"],
        flags=tuple(shlex.split(fields["flags"])),
        plain_compiler=fields["plain_compiler"],
        plain_flags=tuple(shlex.split(fields["plain_flags"])),
        warnings=words("warnings"),
        kernel_option=fields["kernel_option"],
        ar=fields["ar"],
        link_rule=fields["link_rule"],
        link_flags=tuple(shlex.split(fields["link_flags"])),
        objects=tuple(folder / name for name in words(f"{_OBJECTS}{board.port}")),
        archives=tuple(
            folder / name for name in words("archives") if name != _PREPARED
        ),
        prepared=folder / _PREPARED,
        system=words("system"),
        record=fields,
        unmodelled=models.read(folder),
    )


@functools.lru_cache(maxsize=64)  # there are hundreds in each
def _paths(words: str) -> tuple[Path, ...]:
    return tuple(Path(word) for word in words.split(";") if word)
