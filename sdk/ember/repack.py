"""A model becomes a smaller one: memory planned anew, unused and equal constants gone.

What it writes is a valid ET12 program that computes the same, here and in ExecuTorch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ember import plan_check, program
from ember.kernels import KernelList
from ember.model import Model
from ember.program import Method, Program, types
from ember.replan import replan


def repack(model: Model, known: KernelList) -> Model:
    """`model` packed; as it is when it calls an operator that is not in `known`,
    which choosing kernels then tells with every other gap."""
    methods = model.program.methods
    if any(name not in known.operators for m in methods for name in m.operator_names):
        return model
    keep = _shared(model.program)
    plans = {one.name: replan(one, known, keep) for one in methods}
    packed = _without_waste(
        replace(model.program, methods=tuple(plans[one.name].method for one in methods))
    )
    plans = {one.name: replace(plans[one.name], method=one) for one in packed.methods}
    content = program.write(packed)
    plan_check.check(model.program, program.parse(content), known)
    return replace(
        model,
        content=content,
        program=packed,
        stock=model.program,
        replanned=plans,
    )


def _shared(one: Program) -> frozenset[int]:
    """Of several methods the memories but the first: they may share state in them."""
    if len(one.methods) == 1:
        return frozenset()
    most = max(len(method.planned_sizes) for method in one.methods)
    return frozenset(range(2, most))


def _without_waste(one: Program) -> Program:
    """Without values and constants that nothing uses; equal constants become one."""
    used = replace(one, methods=tuple(map(_without_values, one.methods)))
    places: dict[bytes, int] = {}
    moved = {0: 0}
    for index in sorted(used.used_constants()):
        moved[index] = places.setdefault(one.constants[index], len(places) + 1)
    methods = tuple(_with_constants(method, moved) for method in used.methods)
    return replace(used, methods=methods, constants=(b"", *places))


def _without_values(method: Method) -> Method:
    used = method.used_values()
    return replace(
        method,
        values=tuple(
            value
            if index in used or not isinstance(value, types.Tensor)
            else types.Null()
            for index, value in enumerate(method.values)
        ),
    )


def _with_constants(method: Method, moved: Mapping[int, int]) -> Method:
    return replace(
        method,
        values=tuple(
            replace(value, data_index=moved[value.data_index])
            if isinstance(value, types.Tensor) and value.is_constant
            else value
            for value in method.values
        ),
    )
