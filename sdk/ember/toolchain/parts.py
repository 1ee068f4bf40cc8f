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
from ember.toolchain import build_tree, closure, demand, libraries, objects
from ember.toolchain.libraries import Libraries


def of(made: Libraries, files: Sequence[Path]) -> Libraries:
    """The libraries whose archives have all that the objects `files` call.

    The same, when they are whole; else compiled now, unless the cache has them.
    """
    if made.is_whole:
        return made
    given = (objects.read(path) for path in (*files, *made.objects))
    return _defining(made, {name for one in given for name in one.needed()})


def of_tables(made: Libraries, tables: Iterable[str], *, engines: bool) -> Libraries:
    """The same for C texts that name kernels; with the `engines`, for kernels that the
    SDK does not see."""
    if made.is_whole:
        return made
    texts = list(tables)
    if engines:
        headers = sorted((paths.kernels() / "engine").glob("*.h"))
        texts += [path.read_text(encoding="utf-8") for path in headers]
    needed = (name for path in made.objects for name in objects.read(path).needed())
    return _defining(made, {*closure.names(texts), *needed})


def _defining(made: Libraries, symbols: Collection[str]) -> Libraries:
    wanted = set(sources(made.board, symbols))
    places = {
        path.stem: [i for i, one in enumerate(made.sources[path.stem]) if one in wanted]
        for path in made.optional_archives
        if not path.is_file()
    }
    folder = _folder(made, places)
    if not folder.is_dir():
        _make(made, places, folder)
    kept = (_kept(path, folder, places) for path in made.archives)
    return replace(made, archives=tuple(path for path in kept if path is not None))


def sources(board: Board, symbols: Iterable[str]) -> list[Path]:
    """The files of kernels and backends that define `symbols`, and what these need."""
    computer = boards.computer(board)
    try:
        part = libraries.build(computer, messages=True, whole=False)
        return closure.defining(part, symbols)
    except demand.UnmodelledError:
        return closure.defining(libraries.build(computer, messages=True), symbols)


def _folder(made: Libraries, places: Mapping[str, Sequence[int]]) -> Path:
    digest = hashlib.sha256(repr(sorted(places.items())).encode()).hexdigest()
    return made.folder / f"parts-{digest[:16]}"


def _kept(
    archive: Path, folder: Path, places: Mapping[str, Sequence[int]]
) -> Path | None:
    """Where the archive is; None, where nothing of it is wanted."""
    if archive.stem not in places:
        return archive
    return folder / archive.name if places[archive.stem] else None


def _make(made: Libraries, places: Mapping[str, Sequence[int]], folder: Path) -> None:
    wanted = {
        name: [made.members[name][place] for place in chosen]
        for name, chosen in places.items()
        if chosen
    }
    with libraries.locked(made.config):
        tree = made.config.build
        targets = [
            str(Path(one).relative_to(tree)) for o in wanted.values() for one in o
        ]
        if targets:  # without any, Ninja makes everything
            libraries.compile_targets(made.config, targets)
        with tempfile.TemporaryDirectory(dir=made.folder) as temporary:
            place = Path(temporary) / "made"
            place.mkdir()
            for name, members in wanted.items():
                words = [made.ar, "qcsD", str(place / f"{name}.a"), *members]
                build_tree.run(words, f"cannot make {name}.a")
            if not folder.is_dir():
                place.rename(folder)
