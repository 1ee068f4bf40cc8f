"""A program becomes what it needs on a board: kernels, states, scratch, or its gaps.

The answer comes from the runtime's own loader, compiled for this computer at the
board's pointer width (runtime_c/app/resolve_main.c), so host and device agree.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ember import kernels
from ember.boards import Board, levels
from ember.errors import SdkError
from ember.files import documents
from ember.kernels import KernelList
from ember.select import delegates, loader, merged
from ember.select.delegates import DelegateNeeds
from ember.toolchain import emulator

MOST_DATA_FILES = 16  # resolve_main.c
_UNSUPPORTED, _TOO_LARGE = -2, 3
_TIMEOUT_S = 300
_APART = 4096  # bytes between the regions of one loading, and the double in another

_NO_DATA = re.compile("(constant|data) is missing")
_DATA_HINT = (
    "the weights are in a separate .ptd file: put it beside the program and name"
    " their folder, or use --data FILE.ptd"
)


@dataclass(frozen=True)
class Candidate:
    """A kernel's answer to a call."""

    kernel: str
    status: int  # 0: it takes the call
    message: str  # why it does not
    steps: int = 0  # bound of its work, by the largest shapes


@dataclass(frozen=True)
class Call:
    """A kernel call as the loader saw it; sizes in bytes."""

    instruction: int
    kernel: str | None  # None: no kernel took it
    known: bool  # whether the operator has kernels at all
    state: int
    scratch: int
    planned: bool  # whether its scratch lies in planned memory
    volatile: bool  # prepared again when its arguments change
    message: str  # why, where kernel is None
    candidates: tuple[Candidate, ...] = ()  # in the order they are tried

    @property
    def steps(self) -> int:
        """Bound of the work of the kernel, by the largest shapes."""
        return max(
            (c.steps for c in self.candidates if c.kernel == self.kernel), default=0
        )

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
    steps: int = 0  # bound of the work of one pass, by the largest shapes
    delegate_steps: tuple[int, ...] = ()  # of one call of each delegate
    unsized: bool = False  # a call's work is known only while it runs

    @property
    def is_fixed(self) -> bool:
        """Whether nothing in it changes at run time; what delegates keep does not."""
        if not self.changing:
            return True
        volatile = any(call.volatile for call in self.calls)
        return bool(self.delegate_steps) and self.slots == 0 and not volatile

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
    tool = loader.ready(board, known, allowed, program)
    resolutions = [
        _resolution(*_load(tool, program, data, methods, allowed, words))
        for words in _cores(board)
    ]
    if len(resolutions) == 1:
        return resolutions[0]
    return Resolution(
        merged.merged([resolution.methods for resolution in resolutions]),
        resolutions[-1].sizes,
    )


def _cores(board: Board) -> list[list[str]]:
    """What tells the loader of each core that the firmware may find."""
    if not board.detects:
        return [[f"vector={board.svl // 8}"] if board.svl else []]
    return [
        [f"cpu={core.cpu}", *([f"vector={core.svl // 8}"] if core.svl else [])]
        for core in levels.of(board)
    ]


def _load(
    tool: loader.Loader,
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
        answer = documents.read_json(folder / "result.json")
        packed = folder / "packed.bin"
        assert isinstance(answer, dict)
        return answer, packed.read_bytes() if packed.is_file() else b""


@dataclass(frozen=True)
class Loading:
    """The loader's report, run from `tool`, on methods of a program."""

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

    So a word of a node's state that differs is an address, and the distance tells into
    which region. Only for boards with pointers of 4 bytes.
    """
    tool = loader.ready(board, known, allowed, program)
    loadings = []
    for loading_tool, apart in ((tool, _APART), (tool.moved, 2 * _APART)):
        answer, packed = _load(
            loading_tool, program, data, methods, allowed, [f"apart={apart}"]
        )
        _resolution(answer, packed)
        for item in answer["prepared"]:
            _check(item)
        loadings.append(Loading(loading_tool.path, tuple(answer["prepared"])))
    return loadings[0], loadings[1]


def _resolution(answer: Mapping[str, Any], packed: bytes) -> Resolution:
    _check(answer)
    measured = {item["index"]: item for item in answer.get("measured", ())}
    methods = []
    for item in answer["probed"]:
        sizes = measured.get(item["index"], {})
        needs = _method(item, sizes, packed)
        if not needs.gaps and not needs.missing_delegates:  # those are told first
            _check(item)
            _check(sizes)
        methods.append(needs)
    return Resolution(tuple(methods), answer["sizes"])


def _check(item: Mapping[str, Any]) -> None:
    if item.get("status", 0) != 0:
        at = item.get("instruction", -1)
        where = f" at instruction {at}" if at >= 0 else ""
        raise SdkError(
            f"the loader rejects the program{where}: {item['message']}",
            hint=_DATA_HINT if _NO_DATA.search(item["message"]) else None,
        )


def _temp(largest: int, calls: Sequence[Call]) -> int:
    """Bytes of scratch outside of planned memory; `largest` is that of any call."""
    if not any(call.planned for call in calls):
        return largest
    return max((call.scratch for call in calls if not call.planned), default=0)


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
            planned=bool(call["planned"]),
            # A volatile call may fail now, for want of values; not for unknown dtypes.
            volatile=call["instruction"] in volatile and call["status"] != _UNSUPPORTED,
            message=call.get("message", ""),
            candidates=tuple(
                Candidate(**candidate) for candidate in call.get("candidates", ())
            ),
        )
        for call in item["calls"]
    )
    return MethodNeeds(
        index=item["index"],
        calls=calls,
        missing_delegates=tuple(item["missing_delegates"]),
        arena=sizes.get("arena", 0),
        temp=_temp(sizes.get("temp", 0), calls),
        slots=sizes.get("slots", 0),
        changing=bool(sizes.get("changing", 1)),
        delegates={
            delegate["index"]: delegates.needs(delegate, packed)
            for delegate in sizes.get("delegates", ())
        },
        spare=tuple(sizes.get("spare", ())),
        steps=sizes.get("work", 0) + sizes.get("volatile_work", 0),
        delegate_steps=tuple(sizes.get("delegate_steps", ())),
        unsized=any(call["status"] for call in item["calls"]),
    )
