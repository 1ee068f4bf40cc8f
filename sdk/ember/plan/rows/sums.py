"""A pool of large windows becomes two calls: one adds rows up, one makes means of sums.

The windows of such a pool are not in memory then, but the sums of the rows so far. A
row of sums is that of all rows of its window up to this one; it is written over the one
before (kernels/cortex_m/avg_pool_rows_s8.h).
"""

from __future__ import annotations

from dataclasses import replace

from ember.files.tensors import DType
from ember.plan.rows import reads
from ember.plan.rows.reads import RowCall, RowRead
from ember.plan.rows.row_regions import MEANS, SUMS
from ember.program import Method, types

_POOL = "cortex_m::quantized_avg_pool2d"
_LESS = 2  # so many times the bytes, at least
_COLUMNS = 8  # of rows, at least: what narrower ones save takes many short calls


def split(method: Method, call: RowCall) -> tuple[RowCall, ...]:
    """The call alone, if it is no such pool."""
    (read, *_) = call.reads
    step = read.stride if reads.rows(call.tensor) > 1 else read.extent
    wide = read.tensor.sizes[-1] >= _COLUMNS
    if not (_is_pool(method, call) and wide and step >= read.extent):
        return (call,)
    sums = _sums(call, step, read.extent)
    row = reads.row_bytes(read.tensor)
    if _LESS * (row + reads.row_bytes(sums)) > read.extent * row:
        return (call,)
    out = len(method.values) + call.index  # no value of the method
    single = replace(read, extent=1, stride=1)
    adding = replace(
        call, out=out, reads=(single,), tensor=sums, operator=SUMS, renewed=step
    )
    last = RowRead(read.arg, out, 1, step, 1 - read.extent, owner=out, tensor=sums)
    return adding, replace(call, reads=(last,), operator=MEANS)


def _is_pool(method: Method, call: RowCall) -> bool:
    instruction = method.instructions[call.index]
    assert isinstance(instruction, types.KernelCall)
    return method.operators[instruction.op_index].name == _POOL


def _sums(call: RowCall, step: int, extent: int) -> types.Tensor:
    """One row for each row of the image that is added, also between windows."""
    n, c, height, width = call.tensor.sizes
    rows = (height - 1) * step + extent
    return types.Tensor(DType.FLOAT32, (n, c, rows, width), call.tensor.dim_order)
