"""The runtime's loader becomes a program of the host, with the candidate kernels.

It has kernels of every instruction set, and node kernels for the board's sets. Models
stand for instructions that the host lacks, but only `prepare` is called. With an empty
cache, the kernels of the operators that a program names are compiled; after several
programs all of them, so that others need no compiler.
"""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ember import boards, kept, kernels, paths
from ember.boards import Board, isa
from ember.kernels import KernelList
from ember.toolchain import build_tree, libraries, linker, parts
from ember.toolchain.build_tree import ToolError
from ember.toolchain.compiler import Libraries

_XNNPACK = "XnnpackBackend"
MOST_PARTS = 6  # loaders with a part of the kernels, before all are compiled
_NAME, _TWIN = "resolve", "resolve-moved"
_MOVED = 0x80_0000  # bytes between the addresses of the loader and its twin


@dataclass(frozen=True)
class Loader:
    board: Board
    path: Path
    unmodelled: Mapping[str, str]  # kernels that it lacks, by the intrinsic

    @property
    def moved(self) -> Loader:
        """The same program, linked to other addresses."""
        return replace(self, path=self.path.with_name(_TWIN))


def is_ready(
    board: Board, known: KernelList, operators: frozenset[str], program: bytes
) -> bool:
    """Whether ready() starts no compiler for a program that names `operators`."""
    host = boards.computer(board)
    key = libraries.built_key(host, messages=True)
    if key is None:
        return False
    wanted = Content.of(board, known, operators, program)
    whole = _place(host, key, wanted)
    return _found(whole) or _found(_part(whole, wanted))


def ready(
    board: Board,
    known: KernelList,
    allowed: Mapping[str, Sequence[str]],
    program: bytes,
) -> Loader:
    """The loader that has each kernel that `board` may use for `program`, whose
    operators are in `allowed`; compiled now unless the cache has it."""
    content = Content.of(board, known, frozenset(allowed), program)
    wanted = [kernel for offered in allowed.values() for kernel in offered]
    for backend in known.backends.values():
        wanted += isa.usable(backend.kernels, content.sets)
    why = f"kernels for {board.name} are chosen by calling it on the host"
    computer = boards.computer(board).name
    try:
        loader = _loader(computer, content)
    except parts.UnmodelledError as error:
        build_tree.need_models(wanted, error.unmodelled, why)
        loader = _loader(computer, content, part=False)
    build_tree.need_models(wanted, loader.unmodelled, why)
    return loader


@dataclass(frozen=True)
class Content:
    """What a loader has kernels of: operators, and backends with their nodes."""

    known: KernelList
    sets: tuple[str, ...]  # instruction sets of the kernels of nodes
    operators: frozenset[str]
    backends: frozenset[str]

    @classmethod
    def of(
        cls, board: Board, known: KernelList, operators: frozenset[str], program: bytes
    ) -> Content:
        """What a program that names `operators` needs."""
        nodes = {
            isa.of(name)
            for backend in known.backends.values()
            for name in backend.kernels
        }
        sets = tuple(name for name in board.isa if name in nodes)
        named = {name for name in known.backends if name.encode() in program}
        operators_of_ours = operators.intersection(known.operators)
        return cls(known, sets, operators_of_ours, frozenset(named))

    @property
    def whole(self) -> Content:
        """The same with every operator and backend."""
        known = self.known
        return replace(
            self,
            operators=frozenset(known.operators),
            backends=frozenset(known.backends),
        )


def _place(board: Board, key: str, content: Content) -> Path:
    """The path of the loader with all kernels."""
    digest = hashlib.sha256(key.encode())
    for path in _sources("resolve_*.[ch]"):
        digest.update(path.name.encode() + path.read_bytes())
    digest.update("".join(_tables(content.whole)).encode())
    digest.update(libraries.user_digest(content.known.libraries))
    name = f"{board.name}-{digest.hexdigest()[:16]}"
    return paths.cache() / "resolve" / name / _NAME


def _part(whole: Path, content: Content) -> Path:
    """The path of the loader with a part of the kernels of `whole`."""
    words = [*sorted(content.operators), *sorted(content.backends)]
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
    return whole.parent / f"part-{digest}" / _NAME


def _sources(pattern: str) -> list[Path]:
    return sorted((paths.runtime() / "app").glob(pattern))


@functools.cache
def _loader(name: str, content: Content, *, part: bool = True) -> Loader:
    """With the kernels of `content`, or all. UnmodelledError."""
    board = boards.load(name)
    libs = libraries.build(board, messages=True, whole=False)
    whole = _place(board, libs.key, content)
    if part and not _found(whole) and not libs.is_whole:
        place = _part(whole, content)
        if _found(place) or make_part(libs, place, content):
            return Loader(board, place, {})
    if not _found(whole):
        libs = libraries.build(board, messages=True)
        _make(libs, whole, content.whole)
    return Loader(board, whole, libs.unmodelled)


def make_part(libs: Libraries, part: Path, content: Content) -> bool:
    """Make a loader with a part of the kernels; False: all shall be compiled."""
    if len(list(part.parents[1].glob("part-*"))) >= MOST_PARTS:
        return False
    try:
        _make(libs, part, content)
    except ToolError:
        return False
    return True


def _make(libs: Libraries, path: Path, content: Content) -> None:
    top = paths.writable_folder(paths.cache() / "resolve")
    with tempfile.TemporaryDirectory(dir=top) as temporary:
        _build(libs, Path(temporary), content)
        path.parent.mkdir(parents=True, exist_ok=True)
        for name in (_TWIN, _NAME):
            if (Path(temporary) / name).is_file():
                kept.put(Path(temporary) / name, path.with_name(name))


def _found(path: Path) -> bool:
    """Whether a loader is there, and its twin if it has one."""
    twin = path.with_name(_TWIN)
    return kept.found(path) and (not twin.exists() or kept.found(twin))


@functools.cache
def _tables(content: Content, without: frozenset[str] = frozenset()) -> tuple[str, str]:
    """C text of the operators and backends, `without` some kernels."""
    chosen = {
        name: [kernel for kernel in items if kernel not in without]
        for name, items in content.known.of_all_sets().items()
        if name in content.operators
    }
    backends = [content.known.backends[name] for name in content.backends]
    nodes = {name for backend in backends for name in backend.kernels}
    return (
        kernels.operator_table(chosen, content.known),
        kernels.backend_table(content.backends, content.sets, nodes - without),
    )


def _build(libs: Libraries, folder: Path, content: Content) -> None:
    table, backends = _tables(content, frozenset(libs.unmodelled))
    (folder / "operators.c").write_text(table, encoding="utf-8")
    (folder / "backends.c").write_text(backends, encoding="utf-8")
    unused = "resolve_plain" if _XNNPACK in content.backends else "resolve_xnnpack"
    sources = [path for path in _sources("resolve_*.c") if path.stem != unused]
    sources += [folder / "operators.c", folder / "backends.c"]
    files = libs.compile(sources, folder)
    files += libraries.user_objects(libs, content.known, content.known.of_all_sets())
    _link(parts.of(libs, files), files, folder)


def _link(libs: Libraries, files: Sequence[Path], folder: Path) -> None:
    if libs.board.port == "host":
        libs.link(files, folder / _NAME)
        return
    for name, board in ((_NAME, libs.board), (_TWIN, _moved(libs.board))):
        script = folder / f"{name}.ld"
        script.write_text(linker.script(board), encoding="utf-8")
        libs.link(files, folder / name, script=script)


def _moved(board: Board) -> Board:
    memories = tuple(
        memory.model_copy(update={"base": memory.base + _MOVED})
        for memory in board.memories
    )
    return board.model_copy(update={"memories": memories})
