"""A method whose first region reads an input becomes one that has a row at a time.

The input is the same image with one row. The region goes on from row to row, and the
calls behind it run with the last one (kernels/rows/rows.h, `rows_fed`). Where it is
stands in a cursor, which is a state: nothing else is kept from row to row but what is
alive in the region anyway.
"""

from __future__ import annotations

from dataclasses import replace

from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.plan.passes.edit import with_values
from ember.plan.rows import overlapped, reads, row_regions
from ember.program import KernelCall, Method, types
from ember.program.types import ALIGN

_CURSOR_WORDS = 2 + 8  # CURSOR_WORDS of kernels/rows/rows_fed.c


def input_of(method: Method) -> int | None:
    """The input that can come row by row: the first image with several rows."""
    for value in method.inputs:
        tensor = method.values[value]
        if reads.is_image(tensor) and isinstance(tensor, types.Tensor):
            return value if reads.rows(tensor) > 1 else None
    return None


def placed(before: Method, method: Method, known: KernelList) -> Method:
    """A method that fed() made of the one `before`, with its memory planned anew where
    replan() would leave it."""
    if row_regions.overlapping(before):
        return overlapped.placed(method, known)
    return method


def fed(method: Method) -> Method:
    """The method with one row of that input, nothing moved; itself where no region
    begins with it."""
    value = input_of(method)
    regions = row_regions.regions(method)
    if value is None or not regions or regions[0].inputs != (value,):
        return method
    region = regions[0]
    image, slab = method.values[value], method.values[region.slab]
    assert isinstance(image, types.Tensor) and isinstance(slab, types.Tensor)
    assert slab.allocation is not None
    memory = slab.allocation.memory_id
    sizes = list(method.planned_sizes)
    place = types.Allocation(memory, -(-sizes[memory] // ALIGN) * ALIGN)
    cursor = types.Tensor(DType.INT32, (_CURSOR_WORDS,), (0,), allocation=place)
    sizes[memory] = place.offset + cursor.nbytes
    row = replace(reads.with_rows(image, 1), allocation=image.allocation)
    values = [*with_values(method, {value: row}).values]
    at = len(values)
    values += [cursor, types.Int(reads.rows(image))]
    (chain,) = method.chains
    instructions = list(chain.instructions)
    call = instructions[region.rows]
    assert isinstance(call, KernelCall)
    args = list(call.args)
    args[row_regions.CURSOR : row_regions.CURSOR] = [at, at + 1]
    instructions[region.rows] = KernelCall(len(method.operators), tuple(args))
    return replace(
        method,
        values=tuple(values),
        chains=(chain.rewritten(instructions, range(len(instructions))),),
        operators=(*method.operators, row_regions.FED),
        planned_sizes=tuple(sizes),
    )
