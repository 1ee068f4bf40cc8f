"""A method becomes its regions of rows: where they are, and what they touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ember.program import KernelCall, Method, Program, types
from ember.program.remembered import remembered

ENTER = types.Operator("ember::rows_enter", "out")
ROWS = types.Operator("ember::rows", "out")
FED = types.Operator("ember::rows_fed", "out")  # a row of its input at a time
SUMS = types.Operator("ember::avg_pool_sums", "out")  # of a pool (lives.py)
MEANS = types.Operator("ember::avg_pool_means", "out")
NUMBER = types.Operator("ember::row_number", "out")  # of a row, which a node must know
BILINEAR = types.Operator("ember::upsample_bilinear2d_rows", "out")
OPERATORS = tuple(
    each.full_name for each in (ENTER, ROWS, SUMS, MEANS, NUMBER, BILINEAR)
)
TABLE, NODES, INPUTS, SLAB, OVER, OUT = range(6)  # arguments of ROWS and FED
CURSOR = OUT + 1  # of FED


@dataclass(frozen=True)
class RowRegion:
    enter: int  # instruction
    rows: int  # instruction; the nodes stand between them
    table: int  # values
    slab: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    # By value of an input and of an output or the slab that may overlap it: bytes by
    # which the input must start later at least.
    over: Mapping[tuple[int, int], int]
    image_rows: int | None = None  # of an input that comes row by row


def fed_inputs(method: Method) -> Mapping[int, int]:
    """The inputs that come row by row, by their index: how many rows the image has."""
    return {
        method.inputs.index(region.inputs[0]): region.image_rows
        for region in regions(method)
        if region.image_rows is not None
    }


def regions(method: Method) -> tuple[RowRegion, ...]:
    """The regions whose calls have the form that rewrite.py gives them."""
    return remembered(method, "rows", lambda: _regions(method))


def has_regions(program: Program) -> bool:
    return any(_ends(method) for method in program.methods)


def _ends(method: Method) -> set[str]:
    """The operators of the method that end regions."""
    return {each.full_name for each in (ROWS, FED) if each in method.operators}


def overlapping(method: Method) -> frozenset[int]:
    """The planned memories in which an output, or a slab, overlaps rows of an input."""
    return frozenset(
        memory
        for region in regions(method)
        for source in region.inputs
        for out in (*region.outputs, region.slab)
        for memory in _shared(method.values[source], method.values[out])
    )


def _shared(source: types.Value, out: types.Value) -> tuple[int, ...]:
    """The memory in which two tensors meet, if they do."""
    if not isinstance(source, types.Tensor) or not isinstance(out, types.Tensor):
        return ()
    a, b = source.allocation, out.allocation
    if a is None or b is None or a.memory_id != b.memory_id:
        return ()
    apart = a.offset + source.nbytes <= b.offset or b.offset + out.nbytes <= a.offset
    return () if apart else (a.memory_id,)


def _regions(method: Method) -> tuple[RowRegion, ...]:
    ends = _ends(method)
    if not ends:
        return ()
    calls = (
        _region(method, index, call)
        for index, name, call in method.kernel_calls()
        if name in ends
    )
    return tuple(region for region in calls if region is not None)


def _region(method: Method, index: int, call: KernelCall) -> RowRegion | None:
    values = [method.values[arg] for arg in call.args]
    if len(values) <= OUT:
        return None
    nodes, inputs, over, outputs = (values[n] for n in (NODES, INPUTS, OVER, OUT))
    if not isinstance(nodes, types.Int) or not isinstance(inputs, types.TensorList):
        return None
    if not isinstance(over, types.IntList) or not isinstance(outputs, types.TensorList):
        return None
    triples = method.int_list(over)
    enter = index - nodes.value - 1
    if triples is None or not 0 <= enter < index:
        return None
    deltas: dict[tuple[int, int], int] = {}
    over_inputs = (*outputs.items, call.args[SLAB])
    for source, out, delta in zip(*(iter(triples),) * 3, strict=False):
        if 0 <= source < len(inputs.items) and 0 <= out < len(over_inputs):
            pair = inputs.items[source], over_inputs[out]
            deltas[pair] = max(deltas.get(pair, delta), delta)
    return RowRegion(
        enter,
        index,
        call.args[TABLE],
        call.args[SLAB],
        inputs.items,
        outputs.items,
        deltas,
        _image_rows(method, call),
    )


def _image_rows(method: Method, call: KernelCall) -> int | None:
    if method.operators[call.op_index] != FED:
        return None
    rows = method.values[call.args[CURSOR + 1]]
    return rows.value if isinstance(rows, types.Int) else None
