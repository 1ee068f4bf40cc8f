"""A method becomes its regions of rows as it states them, and what its nodes name.

For the check alone: nothing is shared with what makes regions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from ember.program import KernelCall, Method, Program, types

ENTER, END = "ember::rows_enter.out", "ember::rows.out"
FED = "ember::rows_fed.out"  # the same, with a row of its input at a time
ENDS = (END, FED)
ROWS = 2  # the dimension of images


@dataclass(frozen=True)
class CheckedRegion:
    nodes: range  # instructions
    table: bytes
    slab: int  # values
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    image_rows: int | None = None  # of an input that comes row by row
    cursor: int | None = None  # value
    pieces: int = 1  # of a row: its one node is given so many, one after the other


def region_of(
    program: Program, method: Method, index: int, call: KernelCall
) -> CheckedRegion:
    table, count, inputs, slab, _, outputs = call.args[:6]
    nodes, given, wanted = (method.values[v] for v in (count, inputs, outputs))
    assert isinstance(nodes, types.Int)
    assert isinstance(given, types.TensorList) and isinstance(wanted, types.TensorList)
    data = program.data_of(tensor_of(method, table))
    assert data is not None
    is_fed = method.operators[call.op_index].full_name == FED
    columns = tensor_of(method, wanted.items[-1]).sizes[ROWS + 1]
    piece = tensor_of(method, result_of(method, index - 1)).sizes[ROWS + 1]
    return CheckedRegion(
        range(index - nodes.value, index),
        bytes(data),
        slab,
        given.items,
        wanted.items,
        number_of(method, call.args[7]) if is_fed else None,
        call.args[6] if is_fed else None,
        columns // piece if nodes.value == 1 and piece > 0 else 1,
    )


def windows_of(
    method: Method, index: int, slab: int, *, out: bool = True
) -> Iterator[int]:
    """The arguments of a node that lie in the slab, in their order; of its results the
    first one, with `out`."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    written = results_of(method, index)
    given = (listed(method, value) for value in call.args[:-1] if value not in written)
    values = (*itertools.chain.from_iterable(given), *(written[:1] if out else ()))
    return (value for value in values if _is_inside(method, value, slab))


def all_windows(method: Method, index: int, slab: int) -> Iterator[int]:
    """The same with all of its results."""
    yield from windows_of(method, index, slab, out=False)
    results = results_of(method, index)
    yield from (value for value in results if _is_inside(method, value, slab))


def _is_inside(method: Method, value: int, slab: int) -> bool:
    tensor, whole = method.values[value], tensor_of(method, slab)
    assert whole.allocation is not None
    if not isinstance(tensor, types.Tensor) or tensor.allocation is None:
        return False
    start = tensor.allocation.offset - whole.allocation.offset
    same = tensor.allocation.memory_id == whole.allocation.memory_id
    return same and tensor.nbytes > 0 and 0 <= start < whole.nbytes


def listed(method: Method, value: int) -> tuple[int, ...]:
    """A value, or the items of a list of tensors."""
    stated = method.values[value]
    return stated.items if isinstance(stated, types.TensorList) else (value,)


def results_of(method: Method, index: int) -> tuple[int, ...]:
    """Of an instruction: the values that it writes."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    return listed(method, call.args[-1])


def result_of(method: Method, index: int) -> int:
    """The first of them."""
    return results_of(method, index)[0]


def planes_of(image: types.Tensor) -> int:
    """How many parts a row has that lie apart: what the order of dimensions has before
    the rows."""
    before = image.dim_order[: image.dim_order.index(ROWS)]
    return math.prod(image.sizes[dim] for dim in before)


def tensor_of(method: Method, value: int) -> types.Tensor:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor)
    return tensor


def name_of(method: Method, index: int) -> str:
    """Of an instruction's operator."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    return method.operators[call.op_index].full_name


def columns_of(method: Method, value: int) -> int:
    """The last of a list, or an integer."""
    stated = method.values[value]
    if isinstance(stated, types.IntList):
        stated = method.values[stated.items[-1]]
    assert isinstance(stated, types.Int)
    return stated.value


def number_of(method: Method, value: int) -> int:
    """An integer, or the first of a list: that of rows."""
    stated = method.values[value]
    if isinstance(stated, types.IntList):
        stated = method.values[stated.items[0]]
    assert isinstance(stated, types.Int)
    return stated.value
