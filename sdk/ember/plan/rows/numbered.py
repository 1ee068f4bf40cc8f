"""A call that must know which row it makes becomes two: one counts, one is told.

A number is a row of four bytes, from 1; each is written over the one before
(kernels/rows/row_number.c).
"""

from __future__ import annotations

from dataclasses import replace

from ember.files.tensors import DType
from ember.plan.rows import reads
from ember.plan.rows.reads import RowCall, RowRead
from ember.plan.rows.row_regions import BILINEAR, NUMBER
from ember.program import Method, types

_ORDER = (0, 1, 2, 3)


def split(method: Method, call: RowCall) -> tuple[RowCall, ...]:
    """The call alone, if it need not know."""
    if call.operator != BILINEAR:
        return (call,)
    (image,) = call.reads
    count = reads.rows(image.tensor)
    number = len(method.values) + call.index  # no value of the method
    numbers = types.Tensor(DType.INT32, (1, 1, count, 1), _ORDER)
    counting = RowCall(
        call.index,
        number,
        (),
        tensor=numbers,
        operator=NUMBER,
        arguments=(number, number),
        renewed=count,
        result=number,
    )
    told = RowRead(1, number, owner=number, tensor=numbers)
    instruction = method.instructions[call.index]
    assert isinstance(instruction, types.KernelCall)
    _, _, *same = instruction.args  # align_corners, scale_factors, out, out
    given: tuple[int | types.Value, ...]
    given = (image.value, number, types.Int(count), *same)
    return counting, replace(call, reads=(image, told), arguments=given)
