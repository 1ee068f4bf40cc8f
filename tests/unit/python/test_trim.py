"""Calls share what is equal and cannot change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ember import kernels
from ember.files.tensors import DType
from ember.plan import check as plan_check
from ember.plan.replan import trimmed
from ember.program import Method, Program, types

X, Y = 0, 1
OPERATORS = (types.Operator("aten::relu", "out"), types.Operator("aten::add", "out"))


def tensor(offset: int) -> types.Tensor:
    return types.Tensor(DType.UINT8, (16,), (0,), 0, types.Allocation(1, offset))


def added(*alphas: types.Value, then: types.Instruction | None = None) -> Program:
    """y = x + alpha x, again and again."""
    values: list[types.Value] = [tensor(0), tensor(16), *alphas]
    calls: list[types.Instruction] = [
        types.KernelCall(1, (X, X, alpha, Y, Y)) for alpha in range(2, len(values))
    ]
    method = Method(
        "forward",
        tuple(values),
        (X,),
        (Y,),
        (types.Chain((*calls, *([then] if then else []))),),
        OPERATORS,
        (types.Delegate("own", b""),),
        (0, 32),
    )
    return Program(methods=(method,))


def alphas_of(program: Program) -> list[int]:
    return [call.args[2] for _, _, call in program.methods[0].kernel_calls()]


def test_equal_scalars_are_one() -> None:
    original = added(types.Int(1), types.Int(2), types.Int(1), types.Double(1.0))
    shared = trimmed(original)
    assert alphas_of(shared) == [2, 3, 2, 5]
    assert shared.methods[0].values[4] == types.Null()
    assert trimmed(shared) == shared
    assert plan_check.problems(original, shared, kernels.load()) == []


def test_what_differs_in_a_bit_or_kind_stays() -> None:
    different = (types.Double(0.0), types.Double(-0.0), types.Int(0), types.Bool(False))
    assert alphas_of(trimmed(added(*different))) == [2, 3, 4, 5]


def test_lists_are_one_when_their_items_are() -> None:
    original = added(
        types.Int(3),
        types.Int(3),
        types.IntList((2, 3)),
        types.IntList((3, 3)),
        types.IntList((3,)),
    )
    shared = trimmed(original)
    assert alphas_of(shared) == [2, 2, 4, 4, 6]
    assert shared.methods[0].values[4] == types.IntList((2, 2))
    assert plan_check.problems(original, shared, kernels.load()) == []


@pytest.mark.parametrize(
    "then",
    [
        types.KernelCall(0, (X, X, 3)),  # the last argument is a result
        types.MoveCall(2, 3),
        types.DelegateCall(0, (X, 3)),
    ],
)
def test_what_can_change_stays(then: types.Instruction) -> None:
    shared = trimmed(added(types.Int(1), types.Int(1), types.Int(1), then=then))
    assert alphas_of(shared)[:3] == [2, 3, 2]


def test_inputs_stay() -> None:
    original = added(types.Int(1), types.Int(1))
    (method,) = original.methods
    given = replace(original, methods=(replace(method, inputs=(X, 3)),))
    assert alphas_of(trimmed(given)) == [2, 3]


def test_another_scalar_is_another_plan() -> None:
    known = kernels.load()
    original, other = added(types.Int(1)), added(types.Int(2))
    assert plan_check.problems(original, other, known) == [
        "forward: the instructions differ"
    ]
