"""A board becomes compiled C libraries, kept in the cache by their sources and options.

With them: the objects of a board's console, and those of the user's own kernels.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import platform
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ember import kept, paths
from ember.boards import Board, keys
from ember.errors import SdkError
from ember.kernels import KernelList
from ember.kernels.library import Library
from ember.toolchain import build_tree, tools
from ember.toolchain.build_tree import (
    Config,
    compile_libraries,
    compilers,
    need_tools,
)
from ember.toolchain.compiler import PARTS, PREPARED, Libraries

_ROOT, _FOLDERS = "CMakeLists.txt", ("runtime_c", "backends", "kernels", "toolchains")
_SUFFIXES = (".c", ".h", ".S", ".inc", ".cmake", ".txt")
_KEPT = 4  # finished libraries of one configuration
_RECORD = "ember.txt"
_OBJECTS = "objects_"  # and a port: the key of its objects in the record
READY_MADE, _HERE = "ready-made", "@EMBER@"  # a folder; what stands for its parent
_ALWAYS = "ember_always"  # the target of what every firmware links
# Which kernels are chosen, and what they are compiled for: the smallest at -Os, the
# fastest at -Os (on Cortex-M within 10 % of -O2 either way), the fastest at -O2.
Optimize = Literal["size", "balanced", "speed"]
DEFAULT_OPTIMIZE: Optimize = "balanced"


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
            if not _is_made(folder, whole) and not _take_ready_made(config, folder):
                compile_targets(config, () if whole else (_ALWAYS,))
                _publish(config, folder, whole)
    os.utime(folder)
    libs = _read(board, config, folder)
    return with_console(libs) if console else without_console(libs)


def _is_made(folder: Path, whole: bool) -> bool:
    """Whether what build() gives is there; what is damaged is made again."""
    record = folder / _RECORD
    if not record.is_file():
        return False
    sums = (path.with_suffix("") for path in folder.glob("*.sum"))
    files = [record, *(path for path in sums if path.is_file() and path != record)]
    damaged = [path for path in files if not kept.found(path)]
    if damaged:  # so may be what they were copied from
        (folder.parent / "build" / build_tree.STAMP).unlink(missing_ok=True)
        record.unlink(missing_ok=True)
        return False
    if not whole:
        return True
    fields = _fields(record.read_text(encoding="utf-8"))
    return all((folder / name).is_file() for name in fields["archives"].split(";"))


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


def compiler_version(toolchain: str) -> str:
    """The name of its C compiler and the version that is here."""
    name = compilers(toolchain)[0]
    return f"{name} {tools.version(name)}"


def _content(config: Config) -> str:
    """A name for all sources, the compiler's version and the options."""
    told = "\n".join(config.arguments).replace(str(paths.root()), _HERE)
    digest = hashlib.sha256(told.encode())
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
    left_out = whole and build_tree.left_out(config.build) != build_tree.left_out(
        folder
    )
    if left_out or not (folder / _RECORD).is_file():
        always = {
            name: archive for name, archive in archives.items() if name not in PARTS
        }
        record |= {"archives": ";".join(archives)}
        record |= {port: ";".join(objects) for port, objects in ports.items()}
        # A cache may be moved, or be copied to another place.
        record = {
            key: value.replace(f"{config.build}/", "") if ".objects" in key else value
            for key, value in record.items()
        }
        files = {**always, **{k: v for port in ports.values() for k, v in port.items()}}
        if build_tree.left_out(config.build):
            files[build_tree.LEFT_OUT] = config.build / build_tree.LEFT_OUT
        _publish_always(config.folder, folder, files, record)
    if whole:
        for name in set(archives).intersection(PARTS):
            with tempfile.TemporaryDirectory(dir=config.folder) as temporary:
                kept.put(Path(shutil.copy2(archives[name], temporary)), folder / name)
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
        for path in sorted(place.iterdir()):
            kept.seal(path, path)
        shutil.rmtree(folder, ignore_errors=True)
        place.rename(folder)


# ---- ready-made ----------------------------------------------------------------------


def save_ready_made(libs: Libraries, top: Path) -> Path:
    """Copy whole libraries to a folder of `top`, as a wheel carries them to computers
    of the same kind, with the same compiler; the same bytes wherever they are made."""
    place = top / _ready_name(libs.config, libs.folder)
    place.mkdir(parents=True)
    lists = ("archives", *(key for key in libs.record if key.startswith(_OBJECTS)))
    for name in ";".join(libs.record[key] for key in lists).split(";"):
        shutil.copyfile(libs.folder / name, place / name)
    text = (libs.folder / _RECORD).read_text(encoding="utf-8")
    text = text.replace(str(paths.root()), _HERE)
    (place / _RECORD).write_text(text, encoding="utf-8")
    return place


def _take_ready_made(config: Config, folder: Path) -> bool:
    """Whether Ember's folder has libraries of these sources, options and compiler."""
    place = paths.root() / READY_MADE / _ready_name(config, folder)
    if not (place / _RECORD).is_file():
        return False
    text = (place / _RECORD).read_text(encoding="utf-8")
    files = {path.name: path for path in place.iterdir() if path.name != _RECORD}
    record = _fields(text.replace(_HERE, str(paths.root())))
    _publish_always(config.folder, folder, files, record)
    return True


def _ready_name(config: Config, folder: Path) -> str:
    return f"{config.toolchain}-{platform.machine()}-{folder.name}"


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
        archives=tuple(folder / name for name in words("archives") if name != PREPARED),
        prepared=folder / PREPARED,
        system=words("system"),
        record=fields,
        unmodelled=build_tree.left_out(folder),
    )


# ---- the console ---------------------------------------------------------------------


_SEMIHOSTING = "semihosting"  # in the names of its objects


def without_console(libs: Libraries) -> Libraries:
    """The libraries without log, files and exit."""
    kept = tuple(
        object_ for object_ in libs.objects if not is_semihosting(object_.name)
    )
    return replace(libs, objects=kept)


def is_semihosting(name: str) -> bool:
    """Whether a file of a port is the console that a serial port stands for."""
    return _SEMIHOSTING in name


def with_console(libs: Libraries) -> Libraries:
    """The libraries with the console that the board's file says."""
    if libs.board.console != "uart":
        return libs
    compiled = _console(libs)
    objects = (*without_console(libs).objects, *compiled)
    return replace(libs, objects=objects, console=compiled[0].parent.name)


def _console(libs: Libraries) -> list[Path]:
    """The objects of the serial port as a console, from the cache once made."""
    assert libs.board.uart is not None
    sources = keys.console(libs.board.uart, libs.board.port)
    digest = hashlib.sha256()
    for path in (*sources, *sorted(sources[0].parent.glob("*.h"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    kept = libs.folder / f"console-{libs.board.uart.kind}-{digest.hexdigest()[:16]}"
    if not kept.is_dir():
        with tempfile.TemporaryDirectory(dir=libs.folder) as temporary:
            built = Path(temporary) / "built"
            built.mkdir()
            libs.compile(sources, built)
            _publish_console(built, kept)
    return sorted(kept.glob("*.o"))


def _publish_console(built: Path, kept: Path) -> None:
    try:
        os.rename(built, kept)  # noqa: PTH104 - atomic
    except OSError:
        if not kept.is_dir():  # else another process was faster
            raise


# ---- the user's kernels --------------------------------------------------------------


_KEPT_OF_USER = 64  # folders of objects


def user_digest(libraries: Sequence[Library]) -> bytes:
    """A hash of every file that the user's kernels may be made of."""
    hashed = hashlib.sha256()
    for library in libraries:
        for path in library.files():
            hashed.update(os.path.relpath(path, library.folder).encode() + b"\0")
            hashed.update(hashlib.sha256(path.read_bytes()).digest())
    return hashed.digest()


def user_options(known: KernelList) -> list[str]:
    return [f"-I{library.folder}" for library in known.libraries]


def user_objects(
    libs: Libraries, known: KernelList, chosen: Mapping[str, Sequence[str]]
) -> list[Path]:
    """Objects of the user's files that `chosen` kernels need, compiled where new."""
    sources = known.user_sources(chosen)
    if not sources:
        return []
    key = hashlib.sha256(libs.key.encode() + user_digest(known.libraries))
    key.update(str([str(path) for path in sources]).encode())
    top = paths.writable_folder(paths.cache() / "user-kernels")
    folder = top / key.hexdigest()[:16]
    if not kept.found(folder):
        with tempfile.TemporaryDirectory(dir=top) as temporary:
            place = Path(temporary) / "made"
            place.mkdir()
            told = [libs.kernel_option, *user_options(known)]
            libs.compile(sources, place, told, given=sources)
            kept.put(place, folder)
        kept.forget_old(
            (path for path in top.iterdir() if path.is_dir()), _KEPT_OF_USER
        )
    return sorted(folder.iterdir())
