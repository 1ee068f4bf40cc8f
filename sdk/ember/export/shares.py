"""A written program -> how much of it is in integers, and what stays in float.

A sentence for people, fields for JSON, and the error of --strict. Multiply-accumulates
and instructions are those of plan/traffic.py; of nodes inside a delegate there is no
estimate of instructions, so that shares are those of elements.
"""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ember.boards import Board
from ember.errors import SdkError
from ember.files import xnnpack
from ember.kernels import KernelList
from ember.plan import effects, traffic
from ember.program import DelegateCall, KernelCall, Method, Tensor, names
from ember.select.selection import Selection

_STEP = re.compile(r"quantize_per_|choose_qparams|XnnpackBackend Convert$")
_MOVE = re.compile(
    r"::(\w+_copy|_?copy_?|clone|_?\w*clone_dim_order|_unsafe_view|et_view|et_copy_index"
    r"|_\w+_copy_nop|scratch|_empty_dim_order|empty)\b"
    r"|XnnpackBackend (Static)?(Copy|Reshape|Transpose|Slice|ExpandDims)\b"
)
# Of those without a count, a share of multiply-accumulates would not be true.
_PRODUCT = re.compile(r"::\w*(conv|linear|mm|matmul|fully_connected|gru|sdpa)\w*\.")
_COUNTED = ("int8", "uint8", "int16", "float16", "bfloat16", "float32", "float64")
_NAMED = 3
_NORMS = ("layer_norm", "group_norm", "rms_norm", "instance_norm")


@dataclass(frozen=True)
class Operation:
    """An instruction, or a node inside of a delegate."""

    operator: str  # with its overload
    instructions: tuple[int, ...]
    module: str
    source: str  # file:line
    macs: int | None  # None: it has some, nobody knows how many
    elements: int  # of its results
    reads: str | None  # the float type that it reads
    writes: str | None  # the float type that it writes
    work: float | None = None  # instructions, estimated

    @property
    def is_step(self) -> bool:
        return bool(_STEP.search(self.operator))

    @property
    def computes(self) -> bool:
        """Whether it is more than a step from or to integers, or a copy."""
        return not self.is_step and not _MOVE.search(self.operator)

    @property
    def is_float(self) -> bool:
        return self.computes and self.reads is not None


@dataclass(frozen=True)
class Shares:
    integer: str  # the type: int8, int16
    operations: tuple[Operation, ...]

    @property
    def macs(self) -> tuple[int, int] | None:
        """In integers, and all; None: those of an operator are not known."""
        rows = self.operations
        if any(row.macs is None for row in rows):
            return None
        whole = sum(row.macs or 0 for row in rows if row.reads is None)
        return whole, sum(row.macs or 0 for row in rows)

    @property
    def elements(self) -> tuple[int, int]:
        rows = [row for row in self.operations if row.computes]
        whole = sum(row.elements for row in rows if row.writes is None)
        return whole, sum(row.elements for row in rows)

    @property
    def is_estimated(self) -> bool:
        known = (
            row.work is not None and row.macs is not None for row in self.operations
        )
        return all(known)

    @property
    def of(self) -> str:
        """What shares of operators are shares of."""
        return "estimated instructions" if self.is_estimated else "elements"

    def share(self, row: Operation) -> float:
        if self.is_estimated:
            whole = sum(each.work or 0 for each in self.operations)
            return (row.work or 0) / (whole or 1)
        return row.elements / (self.elements[1] or 1)

    @property
    def floats(self) -> tuple[Operation, ...]:
        """Operators in float by module, the largest share first."""
        joined: dict[tuple[str, str], Operation] = {}
        for row in self.operations:
            if row.is_float:
                key = row.operator, row.module or row.source
                before = joined.get(key)
                joined[key] = _joined(before, row) if before is not None else row
        return tuple(sorted(joined.values(), key=lambda row: -self.share(row)))

    def __str__(self) -> str:
        parts = (
            ("multiply-accumulates", self.macs or (0, 0)),
            ("elements", self.elements),
        )
        said = [
            f"{_percent(part / whole)} of {what}"
            for what, (part, whole) in parts
            if whole
        ]
        if not said:
            return f"no operator computes in {self.integer}"
        listed = "".join(
            f"; {kind}: {self._listed(kind)}"
            for kind in dict.fromkeys(str(row.reads) for row in self.floats)
        )
        return f"{' and '.join(said)} in {self.integer}{listed}"

    def _listed(self, kind: str) -> str:
        rows = [row for row in self.floats if row.reads == kind]
        told = []
        for number, row in enumerate(rows[:_NAMED]):
            of = f" of the {self.of}" if number == 0 else ""
            where = row.module or row.source
            share = f"{_percent(self.share(row))}{of}"
            told.append(f"{_short(row)} ({', '.join(filter(None, (where, share)))})")
        more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        return ", ".join(told) + more

    def to_json(self) -> dict[str, Any]:
        macs = self.macs
        elements, all_elements = self.elements
        return {
            "type": self.integer,
            "macs": None if macs is None else {"integer": macs[0], "all": macs[1]},
            "elements": {"integer": elements, "all": all_elements},
            "share_of": self.of,
            "float": [
                {
                    "operator": row.operator,
                    "module": row.module or None,
                    "source": row.source or None,
                    "type": row.reads,
                    "instructions": list(row.instructions),
                    "share": self.share(row),
                }
                for row in self.floats
            ],
        }


def of(
    chosen: Selection, integer: str, known: KernelList, board: Board | None
) -> Shares:
    """Of all methods; without a board there is no estimate of instructions."""
    rows: list[Operation] = []
    for method, needs in zip(chosen.methods, chosen.needs, strict=True):
        work: Mapping[int, float] | None = None
        if board is not None:
            kernels = {c.instruction: c.kernel for c in needs.calls if c.kernel}
            work = traffic.of_calls(method, known, kernels, board.core)
        rows += _operations(method, known, work)
    return Shares(integer, tuple(rows))


# ---- operations of a method ----------------------------------------------------------


def _operations(
    method: Method, known: KernelList, work: Mapping[int, float] | None
) -> Iterator[Operation]:
    times = traffic.rounds(method)
    scratch = frozenset(effects.scratch_of(method).values())
    for index, effect in enumerate(effects.of(method, known)):
        instruction = method.instructions[index]
        if isinstance(instruction, DelegateCall):
            yield from _inside(method, index, instruction, times[index])
            continue
        results = _tensors(method, (effect.writes | effect.updates) - scratch)
        read = _tensors(method, effect.reads | effect.updates)
        if not results and not read:
            continue
        kinds = [tensor.dtype.label for tensor in results]
        reads = _float(tensor.dtype.label for tensor in read)
        writes = _float(kinds)
        yield Operation(
            operator=method.name_of(instruction),
            instructions=(index,),
            module=names.module_of(method, index),
            source=names.line(names.source_of(method, index)),
            macs=_macs(method, known, index, times[index]),
            elements=times[index] * sum(t.numel for t in results if _counts(t)),
            reads=reads if read else writes,
            writes=writes,
            work=None if work is None else work.get(index, 0.0),
        )


def _macs(method: Method, known: KernelList, index: int, times: int) -> int | None:
    call = method.instructions[index]
    if not isinstance(call, KernelCall):
        return 0
    count = traffic.macs_of_call(method, known, call)
    if count is None and _PRODUCT.search(method.name_of(call)):
        return None
    return (count or 0) * times


def _inside(
    method: Method, index: int, call: DelegateCall, times: int
) -> Iterator[Operation]:
    """The nodes of XNNPACK's graph. Of a layer the image and the weights count, not
    its biases."""
    delegate = method.delegates[call.delegate_index]
    if delegate.id != xnnpack.BACKEND:
        return
    for place, node in enumerate(xnnpack.parse(delegate.data).nodes):
        macs = traffic.macs_of_node(node)
        read = node.inputs if macs is None else node.inputs[:2]
        yield Operation(
            operator=f"{delegate.id} {node.kind}",
            instructions=(index,),
            module=names.module_of(method, index, place),
            source=names.line(names.source_of(method, index, place)),
            macs=(macs or 0) * times,
            elements=times * sum(math.prod(value.shape) for value in node.outputs),
            reads=_float(value.datatype for value in read),
            writes=_float(value.datatype for value in node.outputs),
        )


def _tensors(method: Method, values: frozenset[int]) -> list[Tensor]:
    held = (method.values[value] for value in values)
    return [value for value in held if isinstance(value, Tensor)]


def _counts(tensor: Tensor) -> bool:
    """Whether it holds what a model computes, not indices or masks."""
    return tensor.dtype.label in _COUNTED


def _float(types: Iterator[str] | Sequence[str]) -> str | None:
    kinds = {name for name in types if "float" in name or name.startswith("fp")}
    return min(kinds, default=None)


def _joined(before: Operation, row: Operation) -> Operation:
    work = None if before.work is None or row.work is None else before.work + row.work
    return replace(
        before,
        instructions=tuple(dict.fromkeys((*before.instructions, *row.instructions))),
        elements=before.elements + row.elements,
        work=work,
    )


def _short(row: Operation) -> str:
    """The operator without its overload."""
    return row.operator.partition(".")[0]


def _percent(share: float) -> str:
    """Never rounded to all or to nothing."""
    if share in (0, 1):
        return f"{share * 100:.0f} %"
    tenths = min(max(math.floor(share * 1000 + 0.5), 1), 999)
    return f"{tenths / 10:g} %" if tenths < 100 or tenths > 900 else f"{tenths // 10} %"


# ---- --strict ------------------------------------------------------------------------


def check(shares: Shares, path: Path) -> None:
    """Raises SdkError if an operator computes in float."""
    floats = shares.floats
    if not floats:
        return
    row = min(floats, key=lambda each: each.instructions)
    where = f" in {row.module}" if row.module else ""
    more = f", and {len(floats) - 1} more" if len(floats) > 1 else ""
    raise SdkError(
        f"--strict: {_short(row)}{where} stays {row.reads}"
        f"{_code(row.source, path)}{more}",
        hint=_remedy(shares, row),
    )


def _code(source: str, path: Path) -> str:
    if not source:
        return ""
    file, _, line = source.rpartition(":")
    code = linecache.getline(str(path.parent / file), int(line)).strip()
    return f", at {source}" + (f": `{code}`" if code else "")


def _remedy(shares: Shares, row: Operation) -> str:
    if any(norm in row.operator for norm in _NORMS):
        first = "use nn.BatchNorm, which goes into the layer before it"
    elif _is_at_edge(shares, row):
        first = "leave it to the application"
    else:
        first = f"replace it by a layer that has {shares.integer} (docs/export.md)"
    return f"{first}, or leave out --strict"


def _is_at_edge(shares: Shares, row: Operation) -> bool:
    """Whether all that computes before it, or behind it, is in float, too."""
    rows = [each for each in shares.operations if each.computes]
    first, last = row.instructions[0], row.instructions[-1]
    integers = [each.instructions[0] for each in rows if not each.is_float]
    return not integers or last < min(integers) or first > max(integers)
