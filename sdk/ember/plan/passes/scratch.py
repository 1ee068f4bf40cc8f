"""scratch: memory that an exporter plans for kernels of others is not planned.

Operators of the `cortex_m` dialect have tensors named `scratch` for the kernels of
CMSIS-NN. Ember's kernels read no such argument and ask for scratch of their own, so it
becomes a tensor without elements.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ember.kernels import library as kernel_library
from ember.plan import effects
from ember.plan.passes.edit import Draft, with_values
from ember.plan.passes.execute import Computer
from ember.program import Method, types


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        emptied = {
            value: _emptied(method, value)
            for value in _unread(method, here)
            if _is_planned(method, value, keep)
        }
        if emptied:
            numbers = range(len(method.instructions))
            after = after.with_method(index, with_values(method, emptied), numbers)
    return [] if after is draft else [after]


def _unread(method: Method, here: Computer) -> set[int]:
    """The scratch arguments of Ember's kernels that no other call touches."""
    touching = Counter(
        value for effect in effects.of(method, here.known) for value in effect.touched
    )
    return {
        value
        for _, name, call in method.kernel_calls()
        if here.known.operators[name].is_ours
        for value in _scratch(call, here.known.operators[name].schema)
        if touching[value] == 1 and value not in (*method.inputs, *method.outputs)
    }


def _scratch(call: types.KernelCall, schema: str) -> list[int]:
    arguments = zip(kernel_library.names(schema), call.args, strict=False)
    return [value for name, value in arguments if name.rpartition("_")[2] == "scratch"]


def _is_planned(method: Method, value: int, keep: frozenset[int]) -> bool:
    tensor = method.values[value]
    return (
        isinstance(tensor, types.Tensor)
        and tensor.allocation is not None
        and tensor.allocation.memory_id not in keep
        and tensor.nbytes > 0
        and not tensor.is_dynamic
    )


def _emptied(method: Method, value: int) -> types.Tensor:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor)
    return replace(tensor, sizes=(0,), dim_order=(0,))
