# SPDX-License-Identifier: Apache-2.0
"""Operators that no exporter emits: programs of our own writer, results of Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from corpus.case import Case, Exported, Run
from ember import program
from ember.files.tensors import DType
from ember.program import types

ROUND = (2.5, 3.5, -2.5, -0.5, 7.0, -7.75, 1e15)
BIG = 2**62
INF, NAN = math.inf, math.nan

# Arguments and the result of each call. Python's own arithmetic; sums and products of
# ints wrap.
NUMBERS: dict[str, Sequence[tuple[float, ...]]] = {
    "add.Scalar": [(2, 3, 5), (BIG, BIG, -(2**63)), (1.5, 2, 3.5), (True, 2, 3)],
    "sub.Scalar": [(2, 3, -1), (-BIG, BIG + BIG - 1, BIG + 1), (1.5, 2, -0.5)],
    "mul.Scalar": [(-2, 3, -6), (BIG, 4, 0), (1.5, -2, -3.0), (INF, 2, INF)],
    "floordiv.Scalar": [
        *((7, 2, 3), (-7, 2, -4), (7, -2, -4), (-7, -2, 3), (0, -5, 0)),
        *((7.5, 2, 3.0), (-7.5, 2, -4.0), (-(2**63), -1, -(2**63))),
    ],
    "floordiv.int": [(9, 4, 2), (-9, 4, -3), (9, -4, -3), (-8, 4, -2)],
    "mod.Scalar": [(7, 3, 1), (-7, 3, 2), (7, -3, -2), (-7, -3, -1), (-7.5, 2, 0.5)],
    "mod.int": [(7, 3, 1), (-7, 3, 2), (7, -3, -2), (-(2**63), -1, 0)],
    "truediv.Scalar": [(7, 2, 3.5), (-1, 4, -0.25), (1, 0, INF), (1.5, 0.5, 3.0)],
    "eq.Scalar": [(2, 2, True), (2, 3, False), (2, 2.0, True), (NAN, NAN, False)],
    "gt.Scalar": [(3, 2, True), (2, 2, False), (2.5, 2, True), (NAN, 1, False)],
    "ge.Scalar": [(2, 2, True), (1, 2, False), (-INF, 2, False), (1, NAN, False)],
    "lt.Scalar": [(1, 2, True), (2, 2, False), (-2.5, -2, True), (NAN, 1, False)],
    "le.Scalar": [(2, 2, True), (3, 2, False), (2, INF, True), (NAN, NAN, False)],
    "neg.Scalar": [(3, -3), (-0.5, 0.5), (-(2**63), -(2**63))],
    "sym_float.Scalar": [(3, 3.0), (-2.5, -2.5), (2**53 + 1, float(2**53))],
    "sym_int.Scalar": [*((x, math.trunc(x)) for x in ROUND), (5, 5)],
    "ceil.Scalar": [*((x, math.ceil(x)) for x in ROUND), (5, 5)],
    "round.Scalar": [*((x, round(x)) for x in ROUND), (5, 5)],
    "trunc.Scalar": [*((x, math.trunc(x)) for x in ROUND), (-5, -5)],
    "sym_max.Scalar": [(2, 3, 3), (2.5, 2, 2.5), (-BIG, BIG, BIG)],
    "sym_min.Scalar": [(2, 3, 2), (2.5, 2, 2.0), (-BIG, BIG, -BIG)],
    "sym_not.Scalar": [(True, False), (False, True), (0, True), (7, False)],
    "sym_ite.Scalar": [(True, 2, 3, 2), (False, 2, 3, 3), (1, 2.5, 3, 2.5)],
}


class Maker:
    """A method whose calls take inputs only."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.inputs: list[int] = []
        self.calls: list[tuple[types.Operator, tuple[int, ...]]] = []
        self.planned = 0

    def value(self, value: Any) -> int:
        kinds: dict[type, Any] = {bool: types.Bool, int: types.Int, float: types.Double}
        kind = kinds.get(type(value))
        self.values.append(kind(value) if kind else value)
        return len(self.values) - 1

    def tensor(self, dtype: DType, sizes: tuple[int, ...]) -> int:
        place = types.Allocation(1, self.planned)
        order = tuple(range(len(sizes)))
        tensor = types.Tensor(dtype, sizes, order, allocation=place)
        self.planned += -(-tensor.nbytes // 16) * 16
        return self.value(tensor)

    def input(self, value: int) -> int:
        self.inputs.append(value)
        return value

    def call(self, name: str, *args: int) -> None:
        base, _, overload = name.partition(".")
        self.calls.append((types.Operator(base, overload), args))

    def exported(self, inputs: Sequence[object], outputs: Sequence[object]) -> Exported:
        operators = list(dict.fromkeys(operator for operator, _ in self.calls))
        calls = [types.KernelCall(operators.index(op), args) for op, args in self.calls]
        method = types.Method(
            name="forward",
            values=tuple(self.values),
            inputs=tuple(self.inputs),
            outputs=tuple(args[-1] for _, args in self.calls),
            chains=(types.Chain(tuple(calls)),),
            operators=tuple(operators),
            planned_sizes=(0, self.planned),
        )
        content = program.write(types.Program(methods=(method,)))
        runs = [Run("forward", list(inputs), list(outputs))]
        return Exported({"model.pte": content}, runs, rtol=0.0, atol=0.0)


def numbers(name: str) -> Exported:
    """All rows of an operator on numbers in one program."""
    m = Maker()
    rows = NUMBERS[name]
    for *given, result in rows:
        arguments = [m.input(m.value(number)) for number in given]
        m.call(f"executorch_prim::{name}", *arguments, m.value(type(result)()))
    return m.exported([x for row in rows for x in row[:-1]], [row[-1] for row in rows])


def sizes() -> Exported:
    """What the exporter folds into constants: a tensor's size, stride, elements."""
    m = Maker()
    x = m.input(m.tensor(DType.FLOAT32, (2, 3, 4)))
    for dim in (0, 1, 2, -1):
        m.call("aten::sym_size.int", x, m.value(dim), m.value(0))
        m.call("aten::sym_stride.int", x, m.value(dim), m.value(0))
    m.call("aten::sym_numel", x, m.value(0))
    return m.exported([torch.zeros(2, 3, 4)], [2, 12, 3, 4, 4, 1, 4, 1, 24])


def device_copies() -> Exported:
    """Copies to and from a device: there is only one here."""
    m = Maker()
    x = m.input(m.tensor(DType.INT16, (2, 3)))
    y, z = (m.tensor(DType.INT16, (2, 3)) for _ in range(2))
    m.call("et_copy::_h2d_copy.out", x, y, y)
    m.call("et_copy::_d2h_copy.out", y, z, z)
    sample = torch.arange(6, dtype=torch.int16).reshape(2, 3)
    return m.exported([sample], [sample, sample])


def closeness(name: str) -> Exported:
    """allclose, whose result is a tensor that the call gives or is given."""
    m = Maker()
    f32, s64 = torch.float32, torch.int64
    rows = [
        ([1.0, 2.0, INF, -INF], [1.0, 2.00001, INF, -INF], 1e-5, 1e-8, False, f32),
        ([1.0, 2.0, 3.0, 4.0], [1.0, 2.001, 3.0, 4.0], 1e-5, 1e-8, False, f32),
        ([1.0, NAN, 3.0, 4.0], [1.0, NAN, 3.0, 4.0], 1e-5, 1e-8, False, f32),
        ([1.0, NAN, 3.0, 4.0], [1.0, NAN, 3.0, 4.0], 1e-5, 1e-8, True, f32),
        ([INF, 2.0, 3.0, 4.0], [-INF, 2.0, 3.0, 4.0], 1.0, 1.0, False, f32),
        ([INF, 2.0, 3.0, 4.0], [1e30, 2.0, 3.0, 4.0], 1.0, 1.0, False, f32),
        ([1e6, 2.0, 3.0, 4.0], [1e6, 2.5, 3.0, 4.0], 0.0, 0.5, False, f32),
        ([10, -3, 7, 0], [11, -3, 7, 0], 0.1, 0.0, False, s64),
        ([10, -3, 7, 0], [12, -3, 7, 0], 0.1, 0.0, False, s64),
    ]
    inputs: list[torch.Tensor] = []
    results: list[torch.Tensor] = []
    for a, b, rtol, atol, equal_nan, dtype in rows:
        pair = torch.tensor([a], dtype=dtype), torch.tensor([b], dtype=dtype)
        known = DType.FLOAT32 if dtype == f32 else DType.INT64
        tensors = [m.input(m.tensor(known, (1, 4))) for _ in pair]
        out = m.tensor(DType.BOOL, ())
        given = [m.value(x) for x in (rtol, atol, equal_nan, False)]
        m.call(name, *tensors, *given, *[out] * (1 if name.endswith("Tensor") else 2))
        inputs += pair
        results.append(torch.tensor(torch.allclose(*pair, rtol, atol, equal_nan)))
    return m.exported(inputs, results)


CASES = [
    *(
        Case(f"op_prim_{name.replace('.', '_').lower()}", partial(numbers, name))
        for name in NUMBERS
    ),
    Case("op_prim_sizes", sizes),
    Case("op_device_copies", device_copies),
    Case("op_allclose", lambda: closeness("aten::allclose.out")),
    Case("op_allclose_returned", lambda: closeness("aten::allclose.Tensor")),
]
