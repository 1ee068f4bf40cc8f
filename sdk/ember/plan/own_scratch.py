"""A method becomes the calls whose scratch lies in its planned memory.

A call of ember::scratch says where, for all calls up to the next one.
"""

from __future__ import annotations

from collections.abc import Mapping

from ember.plan.passes import edit
from ember.program import KernelCall, Method, types

OPERATOR = types.Operator("ember::scratch", "out")


def without(method: Method) -> Method:
    """The method with its scratch outside of its plan again."""
    if OPERATOR not in method.operators:
        return method
    calls = (
        index for index, name, _ in method.kernel_calls() if name == OPERATOR.full_name
    )
    return edit.without(method, frozenset(calls))[0]


def covered(method: Method) -> Mapping[int, int]:
    """The tensor that each instruction has as scratch, by their indices."""
    if OPERATOR not in method.operators:
        return {}
    scratch: dict[int, int] = {}
    now = None
    for index, call in enumerate(method.instructions):
        if isinstance(call, KernelCall) and method.operators[call.op_index] == OPERATOR:
            tensor = method.values[call.args[-1]]
            is_empty = isinstance(tensor, types.Tensor) and tensor.nbytes == 0
            now = None if is_empty else call.args[-1]
        elif now is not None:
            scratch[index] = now
    return scratch
