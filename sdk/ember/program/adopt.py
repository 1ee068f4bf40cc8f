"""Buffers that a program leaves to its caller become state in planned memory.

A buffer with a name and without memory (the exporter: `alloc_mutable_buffers=False`) is
lent by the application: in ExecuTorch through `get_attribute()`, here by
`ember_method_set_attribute()`. Firmware that leaves this to the SDK
gets memory for it from the plan: one memory for all, in which a name has one place, so
methods share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ember.program import types
from ember.program.types import ALIGN, VIEWS, Method, Program


def adopted(program: Program) -> Program:
    """The program whose named buffers have planned memory; itself without such."""
    sizes: dict[str, int] = {}
    for method in program.methods:
        for _, tensor in _lent(method):
            name = tensor.name or ""
            sizes[name] = max(sizes.get(name, 0), tensor.nbytes)
    return _planned(program, sizes) if sizes else program


def _planned(program: Program, sizes: Mapping[str, int]) -> Program:
    """The program with a memory for buffers, bytes by name."""
    # Not the first: what methods share lies in another.
    memory = max(2, *(len(method.planned_sizes) for method in program.methods))
    places: dict[str, types.Allocation] = {}
    end = 0
    for name, size in sizes.items():
        places[name] = types.Allocation(memory, end)
        end += -(-size // ALIGN) * ALIGN
    methods = (_with_memory(method, places, memory, end) for method in program.methods)
    return replace(program, methods=tuple(methods))


def _lent(method: Method) -> Iterator[tuple[int, types.Tensor]]:
    """Values with a name and no memory, which no view points elsewhere."""
    passed = {*method.inputs, *method.outputs}
    viewed = {call.args[-1] for _, name, call in method.kernel_calls() if name in VIEWS}
    for index, tensor in method.tensors:
        if tensor.role == "unbound" and tensor.name and index not in passed | viewed:
            yield index, tensor


def _with_memory(
    method: Method, places: Mapping[str, types.Allocation], memory: int, size: int
) -> Method:
    allocations = {index: places[tensor.name or ""] for index, tensor in _lent(method)}
    if not allocations:
        return method
    values = tuple(
        replace(value, allocation=allocations[index])
        if index in allocations and isinstance(value, types.Tensor)
        else value
        for index, value in enumerate(method.values)
    )
    none = (0,) * (memory - len(method.planned_sizes))
    sizes = (*method.planned_sizes, *none, size)
    return replace(method, values=values, planned_sizes=sizes)
