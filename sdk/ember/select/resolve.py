"""A program becomes what it needs on a board: kernels, states, scratch, or its gaps.

The answer comes from the runtime's own loader, compiled for the host at the board's
pointer width (runtime_c/app/resolve_main.c), so host and device agree. It includes what
delegates need. If a firmware may run on several cores, the answer for each is joined to
one that holds on all of them. Sizes are in bytes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ember import files, kernels
from ember.boards import Board, levels
from ember.errors import SdkError
from ember.files import tensor_data
from ember.kernels import KernelList
from ember.program.reader import parse
from ember.select import loader
from ember.toolchain import emulator

MOST_DATA_FILES = 16  # resolve_main.c
_UNSUPPORTED, _TOO_LARGE = -2, 3
_TIMEOUT_S = 300
_APART = 4096  # bytes between the regions of one loading, and the double in another

_SHOWN = 5  # names of data that is missing
_NO_DATA = re.compile("(constant|data) is missing")
_DATA_HINT = (
    "the weights are in separate .ptd files: put them beside the program and name"
    " their folder, or use --data FILE.ptd for each"
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
    planned: bool  # whether its scratch is in planned memory
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
    spare: tuple[int, ...] = ()  # delegates whose payloads are not read any more
    steps: int = 0  # bound of the work of one pass, by the largest shapes
    delegate_steps: tuple[int, ...] = ()  # of one call of each delegate
    unsized: bool = False  # a call's work is known only at run time

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
    try:
        resolutions = [
            _resolution(*_load(tool, program, data, methods, allowed, words))
            for words in _cores(board)
        ]
    except SdkError as error:
        missing = error.hint == _DATA_HINT and _missing(program, data)
        if not missing:
            raise
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        names = ", ".join(f"'{name}'" for name in missing[:_SHOWN])
        raise SdkError(f"no .ptd file has {names}{more}", _DATA_HINT) from error
    if len(resolutions) == 1:
        return resolutions[0]
    return Resolution(
        merged([resolution.methods for resolution in resolutions]),
        resolutions[-1].sizes,
    )


def _missing(content: bytes, data: Sequence[bytes]) -> list[str]:
    """Names of the tensors whose data is in none of the .ptd files."""
    keys = {entry.key for blob in data for entry in tensor_data.parse(blob).entries}
    names = {
        str(tensor.name)
        for method in parse(content).methods
        for _, tensor in method.tensors
        if tensor.is_external
    }
    return sorted(names - keys)


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
        answer = files.read_json(folder / "result.json")
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
            delegate["index"]: needs(delegate, packed)
            for delegate in sizes.get("delegates", ())
        },
        spare=tuple(sizes.get("spare", ())),
        steps=sizes.get("work", 0) + sizes.get("volatile_work", 0),
        delegate_steps=tuple(sizes.get("delegate_steps", ())),
        unsized=any(call["status"] for call in item["calls"]),
    )


# ---- needs of delegates --------------------------------------------------------------


# ember_xnn_refusal_t of backends/xnnpack/graph/graph.h.
_REFUSALS = {
    1: "groups are not supported",
    2: "the board's vectors are too short to be faster",
    4: "it supports only 3 x 3 windows with one output per channel",
    8: "too few channels",
    16: "its weights are not constant",
    32: "with these scales, sums would not be exact",
    64: "rounding sums to float16 is slower there",
}


@dataclass(frozen=True)
class PackedWeights:
    """Weights in the layout of the kernel that reads them."""

    name: str  # under which the backend looks for them in a program
    data: bytes
    scales: bool  # they hold their scales, too


@dataclass(frozen=True)
class NodeKernel:
    """The kernel that runs a node of a delegate's graph."""

    kernel: str
    variant: str  # pf32_gemm, ...; empty where there is no such name
    packed: PackedWeights | None = None  # what it would rather have than its weights
    refused: tuple[str, ...] = ()  # why kernels that were tried before did not take it
    row: bool = False  # a product of one row
    others: tuple[str, ...] = ()  # that run it on lesser cores, of firmware that asks

    def to_json(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "variant": self.variant}


@dataclass(frozen=True)
class DelegateNeeds:
    nodes: tuple[NodeKernel, ...]
    values: int  # scratch for what lives between nodes
    bound: int  # the most of it that is alive at once
    work: int  # scratch of the node that takes most beside it

    def to_json(self) -> dict[str, int]:
        return {"values": self.values, "bound": self.bound, "work": self.work}


def needs(facts: Mapping[str, Any], packed: bytes) -> DelegateNeeds:
    """Of a delegate in the loader's answer; `packed` is what it put into a file."""
    return DelegateNeeds(
        nodes=tuple(_node_kernel(node, packed) for node in facts["nodes"]),
        **{name: facts[name] for name in ("values", "bound", "work")},
    )


def _node_kernel(facts: Mapping[str, Any], packed: bytes) -> NodeKernel:
    weights = facts.get("packed")
    return NodeKernel(
        facts["kernel"],
        facts["variant"],
        weights
        and PackedWeights(
            weights["name"],
            packed[weights["offset"] : weights["offset"] + weights["size"]],
            bool(weights["scales"]),
        ),
        tuple(text for bit, text in _REFUSALS.items() if facts["refusals"] & bit),
        bool(facts["row"]),
    )


# ---- several cores -------------------------------------------------------------------


def merged(cores: Sequence[Sequence[MethodNeeds]]) -> tuple[MethodNeeds, ...]:
    """Of each method; the last of `cores` is the one whose kernels are reported."""
    return tuple(_merged_method(needs) for needs in zip(*cores, strict=True))


def _merged_method(needs: Sequence[MethodNeeds]) -> MethodNeeds:
    last = needs[-1]
    for need in needs:
        if need.gaps or need.missing_delegates:
            return need
    return replace(
        last,
        calls=tuple(
            _merged_call(calls) for calls in zip(*(n.calls for n in needs), strict=True)
        ),
        arena=max(need.arena for need in needs),
        temp=max(need.temp for need in needs),
        slots=max(need.slots for need in needs),
        steps=max(need.steps for need in needs),
        delegate_steps=tuple(map(max, *(need.delegate_steps for need in needs))),
        changing=any(need.changing for need in needs),
        delegates=_delegates([need.delegates for need in needs]),
        spare=tuple(i for i in last.spare if all(i in need.spare for need in needs)),
    )


def _merged_call(calls: Sequence[Call]) -> Call:
    return replace(
        calls[-1],
        state=max(call.state for call in calls),
        scratch=max(call.scratch for call in calls),
    )


def _delegates(
    delegates: Sequence[Mapping[int, DelegateNeeds]],
) -> dict[int, DelegateNeeds]:
    return {
        index: _delegate([by_index[index] for by_index in delegates])
        for index in delegates[-1]
    }


def _delegate(needs: Sequence[DelegateNeeds]) -> DelegateNeeds:
    return DelegateNeeds(
        nodes=tuple(
            _merged_node(nodes)
            for nodes in zip(*(need.nodes for need in needs), strict=True)
        ),
        values=max(need.values for need in needs),
        bound=max(need.bound for need in needs),
        work=max(need.work for need in needs),
    )


def _merged_node(nodes: Sequence[NodeKernel]) -> NodeKernel:
    """Each core packs weights in its own way, so the program keeps them as they are."""
    best = nodes[-1]
    others = dict.fromkeys(node.kernel for node in nodes)
    others.pop(best.kernel)
    return replace(best, packed=None, others=tuple(others))
