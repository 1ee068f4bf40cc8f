"""Objects of a firmware become archives of the kernels and backends that they call.

All kernels take a compiler half a minute, those of one model a few seconds. What calls
what is read from objects of this computer (closure.py).
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ember import boards, paths
from ember.boards import Board
from ember.toolchain import build_tree, closure, demand, libraries, models, objects
from ember.toolchain.libraries import Libraries


def of(libs: Libraries, files: Sequence[Path]) -> Libraries:
    """The libraries whose archives have all that the objects `files` call.

    The same, when they are whole; else compiled now, unless the cache has them.
    """
    if libs.is_whole:
        return libs
    given = (objects.read(path) for path in (*files, *libs.objects))
    return _defining(libs, {name for item in given for name in item.needed()})


def of_tables(libs: Libraries, tables: Iterable[str], *, engines: bool) -> Libraries:
    """The same for C texts that name kernels; with the `engines`, for kernels that the
    SDK does not see."""
    if libs.is_whole:
        return libs
    texts = list(tables)
    if engines:
        headers = sorted((paths.kernels() / "engine").glob("*.h"))
        texts += [path.read_text(encoding="utf-8") for path in headers]
    needed = (name for path in libs.objects for name in objects.read(path).needed())
    return _defining(libs, {*closure.names(texts), *needed})


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
    if not folder.is_dir():
        _make(libs, places, folder)
    kept = (_kept(path, folder, places) for path in libs.archives)
    return replace(libs, archives=tuple(path for path in kept if path is not None))


def sources(board: Board, symbols: Collection[str]) -> list[Path]:
    """The files of kernels and backends that define `symbols`, and what these need.
    SdkError when one of them uses an intrinsic without a model."""
    computer = boards.computer(board)
    libs = libraries.build(computer, messages=True, whole=False)
    try:
        defining = closure.defining(libs, symbols)
    except demand.UnmodelledError:
        libs = libraries.build(computer, messages=True)
        defining = closure.defining(libs, symbols)
    kernels = (symbol.removeprefix("ember_kernel_") for symbol in symbols)
    why = f"the host compiles kernels for {board.name} to see what they call"
    models.need(kernels, libs.unmodelled, why)
    return defining


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
            if not folder.is_dir():
                place.rename(folder)
