"""A call becomes one that can run row by row, if its form and its shapes are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ember.plan.rows import dialect_forms, float_forms
from ember.plan.rows.reads import (
    Form,
    RowCall,
    is_image,
    rows,
    tensor_of,
)
from ember.program import KernelCall, Method, types

_FORMS: Mapping[str, Form] = {**dialect_forms.FORMS, **float_forms.FORMS}


def of_call(method: Method, index: int) -> RowCall | None:
    """None where the call cannot run by rows."""
    call = method.instructions[index]
    if not isinstance(call, KernelCall):
        return None
    form = _FORMS.get(method.operators[call.op_index].full_name)
    row_call = form(method, index, call) if form else None
    if row_call is None or not _fits(method, row_call):
        return None
    return _typed(method, row_call)


def _typed(method: Method, call: RowCall) -> RowCall:
    reads = (replace(read, tensor=tensor_of(method, read.value)) for read in call.reads)
    out = tensor_of(method, call.out)
    return replace(call, reads=tuple(reads), result=call.out, tensor=out)


def over_calls(method: Method) -> list[int]:
    """Calls whose whole result lies where their one input does."""
    calls = (of_call(method, index) for index in range(len(method.instructions)))
    return [
        call.index for call in calls if call and call.over and _lies_over(method, call)
    ]


def _lies_over(method: Method, call: RowCall) -> bool:
    return call.reads[0].tensor.allocation == call.tensor.allocation


def _fits(method: Method, call: RowCall) -> bool:
    """Whether the shapes are those that the rows say."""
    out = method.values[call.out]
    if not is_image(out) or not isinstance(out, types.Tensor):
        return False
    for read in call.reads:
        tensor = method.values[read.value]
        if not is_image(tensor) or not isinstance(tensor, types.Tensor):
            return False
        room = rows(tensor) + 2 * read.padding - read.extent
        as_many = room >= 0 and room // read.stride + 1 == rows(out)
        if not (as_many or call.transposed) or read.value == call.out:
            return False
    return rows(out) % call.made == 0
