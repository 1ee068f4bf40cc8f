"""A case becomes what its instructions wrote, as events and bytes of an ETDump.

The program runs as it was read, in the test runner: passes of a build keep all results,
but not all instructions.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ember.cases import Case, inputs
from ember.cases.batch import AFTER, NodeValues
from ember.files import etdump, tensors
from ember.files.etdump import Entry, Logged, Where
from ember.files.tensors import DType
from ember.program import Method, Tensor, TensorList, types
from ember.run.etdump import events
from ember.run.lockstep import Lockstep, ManyWatchesError, Recorded, Side, Watches
from ember.run.run import floats

_ALIGN = 16  # bytes, of a tensor
# Types that the Inspector does not read, and what they are written as.
_WRITTEN_AS = {
    DType.BFLOAT16: DType.FLOAT32,
    DType.UINT32: DType.INT64,
    DType.UINT64: DType.INT64,
    DType.QINT8: DType.INT8,
    DType.QUINT8: DType.UINT8,
    DType.QINT32: DType.INT32,
    DType.QUINT4X2: DType.UINT8,
    DType.QUINT2X4: DType.UINT8,
    DType.FLOAT8_E5M2: DType.UINT8,
    DType.FLOAT8_E4M3FN: DType.UINT8,
    DType.FLOAT8_E5M2FNUZ: DType.UINT8,
    DType.FLOAT8_E4M3FNUZ: DType.UINT8,
}


@dataclass
class ValueFile:
    """The bytes of tensors, one after the other: the Inspector's debug buffer."""

    content: bytearray = field(default_factory=bytearray)

    def entry(
        self, value: inputs.Value, declared: types.Value | None = None
    ) -> Entry | None:
        """What an event says of a value; None for what is neither tensor nor number.

        declared -- of the program, with the order in which the tensor is stored
        """
        if isinstance(value, float) and not math.isfinite(value):
            # The Inspector takes numbers through JSON, which has no infinities.
            value = inputs.TensorValue(DType.FLOAT64, (), struct.pack("<d", value))
        if isinstance(value, inputs.TensorValue):
            order = declared.dim_order if isinstance(declared, Tensor) else None
            return self._tensor(value, order)
        return value if isinstance(value, bool | int | float) else None

    def _tensor(
        self, value: inputs.TensorValue, order: Sequence[int] | None
    ) -> etdump.LoggedTensor:
        """Contiguous, for the Inspector looks at no strides."""
        dtype = _WRITTEN_AS.get(value.dtype, value.dtype)
        array = floats(value.array(order), value.dtype)
        self.content += bytes(-len(self.content) % _ALIGN)
        offset = len(self.content)
        self.content += tensors.to_bytes(array, dtype)
        strides = tensors.strides(value.sizes, tensors.contiguous(len(value.sizes)))
        return etdump.LoggedTensor(dtype, value.sizes, strides, offset)

    def outputs(
        self, method: Method, given: Sequence[inputs.Value]
    ) -> tuple[Logged, ...]:
        entries = (
            self.entry(value, method.values[index])
            for index, value in zip(method.outputs, given, strict=True)
        )
        return tuple(
            Logged(entry, output=True) for entry in entries if entry is not None
        )


@dataclass(frozen=True)
class Captured:
    """What was written, by instruction, in order of execution; and the outputs."""

    logged: dict[int, list[Logged]]
    outputs: tuple[inputs.Value, ...]


def capture(case: Case, side: Side, file: ValueFile) -> Captured:
    """Execute a case of one run; its tensors go into `file`."""
    lockstep = Lockstep(case, side, side)
    (method,) = lockstep.methods
    nodes, outputs = _nodes(lockstep, range(len(method.instructions)))
    logged: dict[int, list[Logged]] = {}

    @functools.cache
    def names(instruction: int) -> tuple[str, ...]:
        return events.node_names(method, instruction)

    for node in sorted(nodes, key=lambda node: node.event):
        indices = _results(lockstep, node.instruction)
        of_node = (
            _of_inner(node, names(node.instruction), file)
            if node.inside is not None
            else _of_call(method, node, indices, file)
        )
        logged.setdefault(node.instruction, []).extend(of_node)
    return Captured(logged, outputs)


def _nodes(
    lockstep: Lockstep, instructions: range
) -> tuple[list[NodeValues], tuple[inputs.Value, ...]]:
    """What these instructions wrote, in parts where the board has little memory."""
    nodes: list[NodeValues] = []
    last: Recorded | None = None
    try:
        for last in lockstep.subject_runs(_watches(lockstep, instructions)):
            nodes += last.nodes
        assert last is not None
        return nodes, last.outputs[0]
    except ManyWatchesError:
        if len(instructions) == 1:
            raise
    middle = instructions.start + len(instructions) // 2
    before, outputs = _nodes(lockstep, range(instructions.start, middle))
    behind, _ = _nodes(lockstep, range(middle, instructions.stop))
    return before + behind, outputs


def _watches(lockstep: Lockstep, instructions: range) -> Watches:
    (method,) = lockstep.methods
    calls = types.KernelCall | types.DelegateCall
    return tuple(
        tuple(
            watch
            for watch in watches
            if watch.when == AFTER
            and isinstance(method.instructions[watch.instruction], calls)
        )
        for watches in lockstep.watches(instructions)
    )


def _results(lockstep: Lockstep, instruction: int) -> tuple[int, ...]:
    return lockstep.watched[0].results[instruction]


def _of_inner(
    node: NodeValues, names: Sequence[str], file: ValueFile
) -> Iterator[Logged]:
    """Outputs of a node inside a delegate, by its name, or by its number."""
    assert node.inside is not None
    inner = names[node.inside] if names else node.inside
    where = Where(node.instruction, delegate=inner)
    entries = (file.entry(value) for value in node.values)
    return (Logged(entry, where) for entry in entries if entry is not None)


def _of_call(
    method: Method, node: NodeValues, indices: Sequence[int], file: ValueFile
) -> Iterator[Logged]:
    written = dict(zip(indices, node.values, strict=True))
    for entry in _entries(method, node.instruction, written, file):
        yield Logged(entry, Where(node.instruction))


def _entries(
    method: Method, instruction: int, written: dict[int, inputs.Value], file: ValueFile
) -> Iterator[Entry]:
    """In the order of arguments, as the runtime logs them. What a call returns is its
    last argument, and most often an earlier one again."""
    call = method.instructions[instruction]
    assert isinstance(call, types.KernelCall | types.DelegateCall)
    seen: set[int] = set()
    for argument in call.args:
        declared = method.values[argument]
        listed = isinstance(declared, TensorList)
        places = declared.items if isinstance(declared, TensorList) else (argument,)
        entries = [
            file.entry(written[place], method.values[place])
            for place in places
            if place in written and place not in seen
        ]
        seen.update(places)
        whole = tuple(item for item in entries if isinstance(item, etdump.LoggedTensor))
        if not listed:
            yield from (entry for entry in entries if entry is not None)
        elif whole:
            yield etdump.LoggedList(whole)
