"""A program becomes what it needs on a board: kernels, states, scratch, or its gaps.

The answer comes from the runtime's own loader, compiled for this computer at the
board's pointer width (runtime_c/app/resolve_main.c), so host and device agree.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ember import boards, kernels, paths
from ember.boards import Board, isa
from ember.errors import SdkError
from ember.files import documents
from ember.kernels import KernelList
from ember.select import delegates
from ember.select.delegates import DelegateNeeds
from ember.toolchain import emulator, libraries, linker, models, user_kernels

MOST_DATA_FILES = 16  # resolve_main.c
_UNSUPPORTED, _TOO_LARGE = -2, 3
_TIMEOUT_S = 300
_APART = 4096  # bytes between the regions of one loading, and the double in another
_TWIN, _MOVED = (
    "resolve-moved",
    0x80_0000,
)  # bytes between the addresses of the loader and its twin

_NO_DATA = re.compile("(constant|data) is missing")
_DATA_HINT = (
    "the weights are in a separate .ptd file: put it beside the program and name"
    " their folder, or use --data FILE.ptd"
)


@dataclass(frozen=True)
class Candidate:
    """What a kernel says to a call."""

    kernel: str
    status: int  # 0: it takes the call
    message: str  # why it does not


@dataclass(frozen=True)
class Call:
    """A kernel call as the loader saw it; sizes in bytes."""

    instruction: int
    kernel: str | None  # None: no kernel took it
    known: bool  # whether the operator has kernels at all
    state: int
    scratch: int
    volatile: bool  # prepared again when its arguments change
    message: str  # why, where kernel is None
    candidates: tuple[Candidate, ...] = ()  # in the order they are tried

    @property
    def is_gap(self) -> bool:
        return self.kernel is None and not self.volatile


@dataclass(frozen=True)
class MethodNeeds:
    index: int
    calls: tuple[Call, ...]
    missing_delegates: tuple[int, ...]  # delegates without a backend
    arena: int  # bytes of the method arena; 0 with gaps
    temp: int  # bytes of scratch
    slots: int  # values that can change
    changing: bool  # whether it needs the runtime's parts for what can change
    # By index, those whose backend has kernels of its own.
    delegates: Mapping[int, DelegateNeeds] = field(default_factory=dict)
    spare: tuple[int, ...] = ()  # delegates whose payloads nothing reads any more

    @property
    def gaps(self) -> list[Call]:
        return [call for call in self.calls if call.is_gap]


@dataclass(frozen=True)
class Resolution:
    methods: tuple[MethodNeeds, ...]
    sizes: Mapping[str, int]  # bytes of the runtime's structs on the board


def resolve(
    program: bytes,
    data: Sequence[bytes],
    board: Board,
    methods: Sequence[int],
    *,
    known: KernelList | None = None,
    allowed: Mapping[str, Sequence[str]] | None = None,
) -> Resolution:
    """Load methods (by index) of `program` as `board` would, with all kernels.

    With kernels `known`, Ember's when None; an operator in `allowed` may use only those
    candidates, in that order. SdkError when the loader refuses the program for another
    reason than a missing kernel or backend.
    """
    known = known or kernels.load()
    allowed = kernels.load().all(board.isa) if allowed is None else allowed
    tool = _tool_for(board, known, allowed)
    vector = [f"vector={board.svl // 8}"] if board.svl else []
    return _resolution(*_load(tool, program, data, methods, allowed, vector))


def _load(
    tool: _Tool,
    program: bytes,
    data: Sequence[bytes],
    methods: Sequence[int],
    allowed: Mapping[str, Sequence[str]],
    more: Sequence[str],
) -> tuple[dict[str, Any], bytes]:
    """What the loader, given also the words `more`, tells of a program; and the weights
    that it packed."""
    if len(data) > MOST_DATA_FILES:
        raise SdkError(f"{len(data)} data files are more than {MOST_DATA_FILES}")
    limits = [" ".join([op, *items]) + "\n" for op, items in allowed.items()]
    with tempfile.TemporaryDirectory(prefix="ember-resolve-") as temporary:
        folder = Path(temporary)
        (folder / "program.pte").write_bytes(program)
        (folder / "kernels.txt").write_text("".join(limits), encoding="utf-8")
        for index, content in enumerate(data):
            (folder / f"{chr(ord('a') + index)}.ptd").write_bytes(content)
        words = [f"methods={','.join(map(str, methods))}", f"data={len(data)}"]
        words += more
        run = emulator.run(
            tool.board, tool.path, words, cwd=folder, timeout_s=_TIMEOUT_S, count=False
        )
        if run.exit_code == _TOO_LARGE:
            raise SdkError("the program is too large for the loader on the host")
        run.check("loading the program on the host")
        found = documents.read_json(folder / "result.json")
        packed = folder / "packed.bin"
        assert isinstance(found, dict)
        return found, packed.read_bytes() if packed.is_file() else b""


@dataclass(frozen=True)
class Loading:
    """What the loader, run from `tool`, made of methods of a program."""

    tool: Path
    methods: tuple[Mapping[str, Any], ...]


def twice(
    program: bytes,
    data: Sequence[bytes],
    board: Board,
    methods: Sequence[int],
    known: KernelList,
    allowed: Mapping[str, Sequence[str]],
) -> tuple[Loading, Loading]:
    """Load methods at two places in memory, each region moved by another distance.

    So a word of a node's state that differs is an address, and the distance tells of
    what. Only for boards whose pointers have 4 bytes.
    """
    tool = _tool_for(board, known, allowed)
    made = []
    for one, apart in ((tool, _APART), (tool.moved, 2 * _APART)):
        found, packed = _load(one, program, data, methods, allowed, [f"apart={apart}"])
        _resolution(found, packed)
        for item in found["prepared"]:
            _check(item)
        made.append(Loading(one.path, tuple(found["prepared"])))
    return made[0], made[1]


def _resolution(found: Mapping[str, Any], packed: bytes) -> Resolution:
    _check(found)
    measured = {item["index"]: item for item in found.get("measured", ())}
    methods = []
    for item in found["probed"]:
        sizes = measured.get(item["index"], {})
        needs = _method(item, sizes, packed)
        if not needs.gaps and not needs.missing_delegates:  # those are told first
            _check(item)
            _check(sizes)
        methods.append(needs)
    return Resolution(tuple(methods), found["sizes"])


def _check(item: Mapping[str, Any]) -> None:
    if item.get("status", 0) != 0:
        at = item.get("instruction", -1)
        where = f" at instruction {at}" if at >= 0 else ""
        raise SdkError(
            f"the loader rejects the program{where}: {item['message']}",
            hint=_DATA_HINT if _NO_DATA.search(item["message"]) else None,
        )


def _method(
    item: Mapping[str, Any], sizes: Mapping[str, Any], packed: bytes
) -> MethodNeeds:
    volatile = set(item.get("volatile", ()))
    calls = tuple(
        Call(
            instruction=call["instruction"],
            kernel=call.get("kernel"),
            known=bool(call["known"]),
            state=call.get("state", 0),
            scratch=call["scratch"],
            # A volatile call may fail now, for want of values; not for unknown dtypes.
            volatile=call["instruction"] in volatile and call["status"] != _UNSUPPORTED,
            message=call.get("message", ""),
            candidates=tuple(Candidate(**one) for one in call.get("candidates", ())),
        )
        for call in item["calls"]
    )
    return MethodNeeds(
        index=item["index"],
        calls=calls,
        missing_delegates=tuple(item["missing_delegates"]),
        arena=sizes.get("arena", 0),
        temp=sizes.get("temp", 0),
        slots=sizes.get("slots", 0),
        changing=bool(sizes.get("changing", 1)),
        delegates={
            one["index"]: delegates.needs(one, packed)
            for one in sizes.get("delegates", ())
        },
        spare=tuple(sizes.get("spare", ())),
    )


# ---- the tool -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Tool:
    board: Board
    path: Path
    unmodelled: Mapping[str, str]  # kernels that it lacks, by the intrinsic

    @property
    def moved(self) -> _Tool:
        """The same program, linked to other addresses."""
        return replace(self, path=self.path.with_name(_TWIN))


def _sources(pattern: str) -> list[Path]:
    return sorted((paths.runtime() / "app").glob(pattern))


def is_ready(board: Board, known: KernelList) -> bool:
    """Whether the loader is compiled, so that resolve() starts no compiler."""
    host = computer(board)
    key = libraries.built_key(host, messages=True)
    sets = _node_sets(board, known)
    return key is not None and _place(host, key, known, sets).is_file()


def computer(board: Board | None) -> Board:
    """This computer with pointers as wide as the board's."""
    narrow = board is not None and board.pointer_bytes != 8
    return boards.load("arm-user" if narrow else "host")


def _node_sets(board: Board | None, known: KernelList) -> tuple[str, ...]:
    """The board's instruction sets that kernels of nodes have variants for."""
    used = {isa.of(name) for one in known.backends.values() for name in one.kernels}
    return tuple(name for name in board.isa if name in used) if board else ()


@functools.cache
def _tables(
    known: KernelList, sets: tuple[str, ...], without: frozenset[str] = frozenset()
) -> tuple[str, str]:
    chosen = {
        name: [kernel for kernel in offered if kernel not in without]
        for name, offered in known.of_all_sets().items()
    }
    nodes = {name for one in known.backends.values() for name in one.kernels}
    return (
        kernels.operator_table(chosen, known),
        kernels.backend_table(known.backends, sets, nodes - without),
    )


def _place(board: Board, key: str, known: KernelList, sets: tuple[str, ...]) -> Path:
    digest = hashlib.sha256(key.encode())
    for path in _sources("resolve_*.[ch]"):
        digest.update(path.name.encode() + path.read_bytes())
    digest.update("".join(_tables(known, sets)).encode())
    digest.update(user_kernels.digest(known.libraries))
    name = f"{board.name}-{digest.hexdigest()[:16]}"
    return paths.cache() / "resolve" / name / "resolve"


def _tool_for(
    board: Board, known: KernelList, allowed: Mapping[str, Sequence[str]]
) -> _Tool:
    """The loader that has each kernel that the board may use."""
    sets = _node_sets(board, known)
    tool = _tool(computer(board).name, known, sets)
    wanted = [kernel for offered in allowed.values() for kernel in offered]
    for backend in known.backends.values():
        wanted += isa.usable(backend.kernels, sets)
    why = f"kernels for {board.name} are chosen by calling it on this computer"
    models.need(wanted, tool.unmodelled, why)
    return tool


@functools.cache
def _tool(name: str, known: KernelList, sets: tuple[str, ...]) -> _Tool:
    """The loader as a program of this computer, compiled unless the cache has it.

    It has the kernels for every instruction set, and those of nodes for `sets`; models
    stand for instructions that this computer lacks, but only `prepare` is called here.
    """
    board = boards.load(name)
    built = libraries.build(board, messages=True)
    path = _place(board, built.key, known, sets)
    if not path.is_file():
        top = paths.writable_folder(path.parents[1])
        with tempfile.TemporaryDirectory(dir=top) as temporary:
            _build(built, Path(temporary), known, sets)
            path.parent.mkdir(exist_ok=True)
            for made in (_TWIN, "resolve"):  # its twin is there when it is
                if (Path(temporary) / made).is_file():
                    shutil.move(Path(temporary) / made, path.with_name(made))
    return _Tool(board, path, built.unmodelled)


def _build(
    built: libraries.Libraries, folder: Path, known: KernelList, sets: tuple[str, ...]
) -> None:
    table, backends = _tables(known, sets, frozenset(built.unmodelled))
    (folder / "operators.c").write_text(table, encoding="utf-8")
    (folder / "backends.c").write_text(backends, encoding="utf-8")
    sources = [*_sources("resolve_*.c"), folder / "operators.c", folder / "backends.c"]
    objects = built.compile(sources, folder)
    objects += user_kernels.objects(built, known, known.of_all_sets())
    if built.board.port == "host":
        built.link(objects, folder / "resolve")
        return
    for name, board in (("resolve", built.board), (_TWIN, _moved(built.board))):
        script = folder / f"{name}.ld"
        script.write_text(linker.script(board), encoding="utf-8")
        built.link(objects, folder / name, script=script)


def _moved(board: Board) -> Board:
    memories = tuple(
        one.model_copy(update={"base": one.base + _MOVED}) for one in board.memories
    )
    return board.model_copy(update={"memories": memories})
