"""Objects of a firmware become archives of the kernels and backends that they call.

All kernels take a compiler half a minute, those of one model a few seconds. What calls
what is read from objects of the host, because a file has the same calls for any board.
Where the host's libraries are not whole, members are compiled as something needs them:
where a symbol is defined is guessed from the text of the sources, and then read from
their objects. A wrong guess costs one compilation. A backend is one unit.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ember import boards, kept, paths, writing
from ember.boards import Board
from ember.errors import SdkError
from ember.toolchain import build_tree, elf, libraries
from ember.toolchain.compiler import Libraries
from ember.toolchain.elf import Archive


def of(libs: Libraries, files: Sequence[Path]) -> Libraries:
    """The libraries whose archives have all that the objects `files` call.

    The same, when they are whole; else compiled now, unless the cache has them.
    """
    if libs.is_whole:
        return libs
    given = (elf.read_object(path) for path in (*files, *libs.objects))
    return _defining(libs, {name for item in given for name in item.needed()})


def of_tables(libs: Libraries, tables: Iterable[str], *, engines: bool) -> Libraries:
    """The same for C texts that name kernels; with the `engines`, for kernels that the
    SDK does not see."""
    if libs.is_whole:
        return libs
    texts = list(tables)
    if engines:
        headers = sorted((paths.kernels() / "engine").rglob("*.h"))
        texts += [path.read_text(encoding="utf-8") for path in headers]
    needed = (name for path in libs.objects for name in elf.read_object(path).needed())
    return _defining(libs, {*names(texts), *needed})


def _defining(libs: Libraries, symbols: Collection[str]) -> Libraries:
    wanted = set(sources(libs.board, symbols))
    places = {
        path.stem: [
            i for i, source in enumerate(libs.sources(path.stem)) if source in wanted
        ]
        for path in libs.optional_archives
        if not path.is_file()
    }
    folder = _folder(libs, places)
    if not kept.found(folder):
        _make(libs, places, folder)
    archives = (_kept(path, folder, places) for path in libs.archives)
    return replace(libs, archives=tuple(path for path in archives if path is not None))


def sources(board: Board, symbols: Collection[str]) -> list[Path]:
    """The files of kernels and backends that define `symbols`, and what these need.
    SdkError when one of them uses an intrinsic without a model."""
    computer = boards.computer(board)
    libs = libraries.build(computer, messages=True, whole=False)
    kernels = [symbol.removeprefix("ember_kernel_") for symbol in symbols]
    why = f"the host compiles kernels for {board.name} to see what they call"
    try:
        files = defining(libs, symbols)
    except UnmodelledError as error:
        build_tree.need_models(kernels, error.unmodelled, why)
        libs = libraries.build(computer, messages=True)
        files = defining(libs, symbols)
    build_tree.need_models(kernels, libs.unmodelled, why)
    return files


def _folder(libs: Libraries, places: Mapping[str, Sequence[int]]) -> Path:
    digest = hashlib.sha256(repr(sorted(places.items())).encode()).hexdigest()
    return libs.folder / f"parts-{digest[:16]}"


def _kept(
    archive: Path, folder: Path, places: Mapping[str, Sequence[int]]
) -> Path | None:
    """Where the archive is; None, where nothing of it is wanted."""
    if archive.stem not in places:
        return archive
    return folder / archive.name if places[archive.stem] else None


def _make(libs: Libraries, places: Mapping[str, Sequence[int]], folder: Path) -> None:
    wanted = {
        name: [libs.members(name)[place] for place in chosen]
        for name, chosen in places.items()
        if chosen
    }
    with libraries.locked(libs.config):
        tree = libs.config.build
        targets = [str(o.relative_to(tree)) for each in wanted.values() for o in each]
        if targets:  # without any, Ninja makes everything
            libraries.compile_targets(libs.config, targets)
        with tempfile.TemporaryDirectory(dir=libs.folder) as temporary:
            place = Path(temporary) / "made"
            place.mkdir()
            for name, members in wanted.items():
                words = [libs.ar, "qcsD", str(place / f"{name}.a"), *map(str, members)]
                build_tree.run(words, f"cannot make {name}.a")
            kept.put(place, folder)


# ---- what calls what -----------------------------------------------------------------


_NAME = re.compile(r"\bember_\w+")
_INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.MULTILINE)


def names(texts: Iterable[str]) -> set[str]:
    """Ember's symbols that C texts name."""
    return {name for text in texts for name in _NAME.findall(text)}


def defining(libs: Libraries, symbols: Iterable[str]) -> list[Path]:
    """The files of kernels, engines and backends that define `symbols`, and those that
    these need; `libs` are those of the host."""
    if libs.is_whole:
        taken = _of_archives(libs, symbols)
    else:
        taken = set(members_on_demand(libs, symbols))
    return sorted({path for source in taken for path in _files(source)})


def _of_archives(libs: Libraries, symbols: Iterable[str]) -> set[Path]:
    libraries = [
        (Archive(path), libs.sources(path.stem)) for path in libs.optional_archives
    ]
    offered = {
        name: (number, place)
        for number, (archive, _) in reversed(list(enumerate(libraries)))
        for name, place in archive.index
    }
    waiting = sorted(set(symbols))
    taken: set[tuple[int, int]] = set()
    while waiting:
        key = offered.get(waiting.pop())
        if key is not None and key not in taken:
            taken.add(key)
            waiting += libraries[key[0]][0].member(key[1]).needed()
    members = set()
    for number, place in taken:
        archive, files = libraries[number]
        members.add(files[archive.places.index(place)])
    return members


def _files(source: Path) -> set[Path]:
    """The file, or those in `device` if the host compiled a model."""
    if source.parent.name != "model":
        return {source}
    device = source.parent.parent / "device"
    return {path for path in device.iterdir() if path.suffix in (".c", ".S")}


def headers(files: Iterable[Path]) -> list[Path]:
    """Every header of Ember that `files` include, at any depth."""
    waiting = list(files)
    headers: set[Path] = set()
    while waiting:
        for header in _included(waiting.pop()):
            if header not in headers:
                headers.add(header)
                waiting.append(header)
    return sorted(headers)


def _included(file: Path) -> Iterator[Path]:
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise SdkError(f"cannot read {file}: {error.strerror}") from error
    for name in _INCLUDE.findall(text):
        for folder in (file.parent, *include_folders()):
            if (folder / name).is_file():
                yield (folder / name).resolve()
                break


def include_folders() -> tuple[Path, ...]:
    """Where headers are searched for."""
    return (
        paths.runtime() / "include",
        paths.root(),
        paths.kernels() / "intrinsics",
    )


# ---- compiled on demand --------------------------------------------------------------


# `status_t ember_name(...` at the start of a line, or EXTREME(ember_name, ...).
_DEFINED = re.compile(
    r"^(?!static\b|typedef\b|extern\b)[A-Za-z_][\w \*]*?\b(ember_\w+)\s*[(\[=;]",
    re.MULTILINE,
)
_BY_MACRO = re.compile(r"^[A-Z]\w*\((ember_\w+)", re.MULTILINE)
_BY_FILE = re.compile(r"ember_(?:kernel_|run_)?(\w+?)(?:_ops)?")


class UnmodelledError(Exception):
    """Files use intrinsics without a model: only whole libraries leave them out."""

    def __init__(self, unmodelled: Mapping[str, str]) -> None:
        super().__init__()
        self.unmodelled = unmodelled  # kernels, by the intrinsic


def members_on_demand(libs: Libraries, symbols: Iterable[str]) -> list[Path]:
    """The sources of members that define `symbols`, and those that these need.

    They are compiled in the build tree of `made`. UnmodelledError.
    """
    wanted = sorted(set(symbols))
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:16]
    record = libs.folder / f"members-{digest}.json"
    if record.is_file():
        return [Path(path) for path in json.loads(record.read_text(encoding="utf-8"))]
    with libraries.locked(libs.config):
        taken = sorted(_Demand(libs).closure(wanted))
    text = json.dumps([str(path) for path in taken])
    writing.write(record, text.encode())
    return taken


class _Demand:
    def __init__(self, libs: Libraries) -> None:
        self._made = libs
        self._places = dict(_all_members(libs))
        self._guess = Guess(self._places)
        self._compiled: dict[Path, elf.Object] = {}

    def closure(self, symbols: Iterable[str]) -> set[Path]:
        taken: set[Path] = set()
        waiting, seen = set(symbols), set()
        while waiting:
            self._compile({path for name in waiting for path in self._guess(name)})
            defining = {
                path
                for path, compiled in self._compiled.items()
                if not waiting.isdisjoint(compiled.defined)
            }
            seen |= waiting
            waiting = {
                name
                for path in defining - taken
                for name in self._compiled[path].needed()
            } - seen
            taken |= defining
        return taken

    def _compile(self, sources: set[Path]) -> None:
        new = {path: self._places[path] for path in sources - self._compiled.keys()}
        if not new:
            return
        tree = self._made.config.build
        targets = [str(target.relative_to(tree)) for target in new.values()]
        libraries.compile_targets(self._made.config, targets)
        if unmodelled := build_tree.left_out(tree):
            raise UnmodelledError(unmodelled)
        for path, object_file in new.items():
            self._compiled[path] = elf.read_object(object_file)


def _all_members(libs: Libraries) -> Iterator[tuple[Path, Path]]:
    """Each source that may be a member, and its object in the build tree."""
    for path in libs.optional_archives:
        yield from zip(libs.sources(path.stem), libs.members(path.stem), strict=True)


class Guess:
    """The sources that may define a symbol."""

    def __init__(self, sources: Iterable[Path]) -> None:
        self._by_name: dict[str, set[Path]] = {}
        self._by_stem: dict[str, set[Path]] = {}
        for source in sources:
            if source.is_relative_to(paths.backends()):
                first = source.relative_to(paths.backends()).parts[0]
                for entry in ("ember_backend_", "ember_run_"):
                    unit = entry + Path(first).stem
                    self._by_name.setdefault(unit, set()).add(source)
                continue
            self._by_stem.setdefault(source.stem, set()).add(source)
            for name in _defined_names(source):
                self._by_name.setdefault(name, set()).add(source)

    def __call__(self, symbol: str) -> set[Path]:
        match = _BY_FILE.fullmatch(symbol)
        if match is None:  # the C library's
            return set()
        stem = match[1]
        files = self._by_name.get(symbol, set()) | self._by_stem.get(stem, set())
        while not files and "_" in stem:  # NAME_of_something stands in NAME.c
            stem = stem.rpartition("_")[0]
            files = self._by_stem.get(stem, set())
        return files


@functools.cache
def _defined_names(source: Path) -> frozenset[str]:
    text = source.read_text(encoding="utf-8", errors="replace")
    return frozenset((*_DEFINED.findall(text), *_BY_MACRO.findall(text)))
