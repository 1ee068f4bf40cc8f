"""Bundled programs of the C tests: right and wrong outputs of every kind."""

from __future__ import annotations

import math

import numpy as np
from maker import F32, S32, Maker, floats
from programs_data import methods

from ember import program
from ember.files.tensors import DType
from ember.program import Bool, Double, Int, Program, bundle
from ember.program.bundle import BundledCase, BundledTensor, Value

F16, BF16, F64 = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64
_NUMBERS = (0.0, 2.0**-24, 3 * 2.0**-24, -1.5, 65504.0, math.inf, -math.inf, math.nan)


def add() -> Program:
    """y = a + b, all planned."""
    m = Maker()
    a, b, y = m.input(2, 3), m.input(2, 3), m.tensor(2, 3)
    m.call("add.out", a, b, y)
    m.give(y)
    return m.program()


def sums() -> bytes:
    """toys.bpte: add with the test cases that test_bundle.c numbers."""
    a = np.arange(6, dtype="float32").reshape(2, 3)
    special = np.array([[np.nan, np.inf, -np.inf], [0, 1, 2]], "float32")
    changed = a * 2 + np.array([[0, 0, 0], [0, 0, 0.5]], "float32")
    near = (a * 2 * 1.0005).astype("float32")

    def tensor(array: np.ndarray, dtype: DType = F32, *order: int) -> BundledTensor:
        return BundledTensor.of(array, dtype, order or None)

    def case(x: np.ndarray, *outputs: BundledTensor) -> BundledCase:
        return BundledCase((tensor(x), tensor(x)), outputs)

    cases = (
        case(a, tensor(a * 2)),
        case(a, tensor(changed)),
        case(a, tensor(near)),
        case(special, tensor(special * 2)),
        case(a, tensor((a * 2).reshape(3, 2))),
        case(a, tensor(a.astype("int32") * 2, S32)),
        BundledCase((tensor(a),), (tensor(a * 2),)),
        case(a, tensor(a * 2, F32, 1, 0)),
    )
    return _written(add(), cases)


def everything() -> Program:
    """A value of every kind, each both input and output; nobody plans the last."""
    m = Maker()
    for dtype in (F16, BF16, F64, S32):
        m.input(len(_NUMBERS), dtype=dtype)
    m.inputs += [m.value(scalar) for scalar in (Int(3), Bool(True), Double(2.5))]
    m.input(2, memory=None)
    m.give(*m.inputs)
    return m.program()


def values() -> bytes:
    """values.bpte: `everything` with the cases that test_bundle_values.c numbers."""
    right: list[Value] = [
        _tensor(np.array(_NUMBERS, "float16"), F16),
        _tensor(_bfloat16(_NUMBERS), BF16),
        _tensor(np.array(_NUMBERS, "float64"), F64),
        _tensor(np.arange(len(_NUMBERS), dtype="int32"), S32),
        *(Int(3), Bool(True), Double(2.5)),
        BundledTensor(F32, (2,), (0,), floats(1, 2)),
    ]
    number = np.array([*_NUMBERS[:-1], 1.0])  # instead of not a number
    finite = np.array([*_NUMBERS[:-2], 1.0, math.nan])  # instead of infinity
    fraction = np.array([*_NUMBERS[:3], -1.25, *_NUMBERS[4:]])
    endless = np.array([*_NUMBERS[:4], math.inf, *_NUMBERS[5:]])
    wrong: list[tuple[int, Value]] = [
        (0, _tensor(number.astype("float16"), F16)),
        (0, _tensor(finite.astype("float16"), F16)),
        (0, _tensor(endless.astype("float16"), F16)),
        (0, _tensor(fraction.astype("float16"), F16)),
        (1, _tensor(_bfloat16(number), BF16)),
        (1, _tensor(_bfloat16(fraction), BF16)),
        (2, _tensor(np.array([-1.0, *_NUMBERS[1:]]), F64)),
        (2, _tensor(np.array([math.nan, *_NUMBERS[1:]]), F64)),
        (3, _tensor(np.zeros(len(_NUMBERS), "int32"), S32)),
        (4, Int(4)),
        (4, Double(3.0)),
        (5, Bool(False)),
        (6, Double(2.0)),
        (7, BundledTensor(F32, (2,), (0,), floats(1, 3))),
    ]
    cases = [BundledCase(tuple(right), tuple(right))]
    for place, value in wrong:
        outputs = [*right[:place], value, *right[place + 1 :]]
        cases.append(BundledCase(tuple(right), tuple(outputs)))
    deep = _tensor(np.zeros((1,) * 17, "float32"), F32)
    cases += [
        BundledCase(tuple(right), (*right, Int(1))),
        BundledCase(tuple(right), (deep,)),
        BundledCase(tuple(right), (_tensor(np.zeros((1,) * 16, "float32"), F32),)),
    ]
    largest = np.array([*_NUMBERS[:4], np.finfo("float64").max, *_NUMBERS[5:]])
    outputs = [*right[:2], _tensor(largest, F64), *right[3:]]
    cases.append(BundledCase(tuple(right), tuple(outputs)))
    return _written(everything(), tuple(cases))


def unbound() -> bytes:
    """unbound.bpte: outputs without memory, the first without elements."""
    m = Maker()
    m.give(m.tensor(0, memory=None), m.tensor(2, memory=None))
    outputs = (
        BundledTensor(F32, (0,), (0,), b""),
        BundledTensor(F32, (2,), (0,), floats(0, 0)),
    )
    return _written(m.program(), (BundledCase((), outputs),))


def suites() -> bytes:
    """suites.bpte: one test case of the first method, two of the second."""
    case = BundledCase((), ())
    of_both = (
        bundle.Suite("increase", (case,)),
        bundle.Suite("read", (case, case)),
    )
    return bundle.write(bundle.Bundle(program.write(methods()), of_both))


def _written(content: Program, cases: tuple[BundledCase, ...]) -> bytes:
    suites = (bundle.Suite("forward", cases),)
    return bundle.write(bundle.Bundle(program.write(content), suites))


def _tensor(array: np.ndarray, dtype: DType) -> BundledTensor:
    return BundledTensor.of(array, dtype)


def _bfloat16(numbers: object) -> np.ndarray:
    """Their bits: the upper half of a float's."""
    bits = np.asarray(numbers, "float32").view("uint32")
    return (bits >> 16).astype("uint16")
