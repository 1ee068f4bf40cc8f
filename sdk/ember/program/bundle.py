"""A bundled program (.bpte) -> program and tests as numpy, and back to bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ember import files
from ember.errors import SdkError, problem_list
from ember.files import flat, flat_writer, schema, tensors
from ember.files.flat import Record
from ember.files.tensors import Array, DType
from ember.program.types import Bool, Double, Int

VERSION = 2
_MOST_DIMENSIONS = 255
_MARK, _TOLERANCE = b"EMTL", struct.Struct("<4sdd")
_DAMAGED = "the file is damaged or truncated: export or copy it again"

__all__ = ["Bundle", "BundledCase", "BundledTensor", "Suite", "parse", "read", "write"]


@dataclass(frozen=True)
class BundledTensor:
    """A tensor of a test case: an input, or an expected output."""

    dtype: DType
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    data: bytes

    @property
    def array(self) -> Array:
        """In PyTorch's shape; bfloat16 as uint16."""
        return tensors.from_bytes(self.data, self.dtype, self.sizes, self.dim_order)

    @staticmethod
    def of(
        array: Array, dtype: DType, dim_order: tuple[int, ...] | None = None
    ) -> BundledTensor:
        """From a logical array, laid out in `dim_order` (contiguous by default)."""
        order = tensors.contiguous(array.ndim) if dim_order is None else dim_order
        return BundledTensor(
            dtype, tuple(array.shape), order, tensors.to_bytes(array, dtype, order)
        )


# For scripts that import the former names.
Tensor = BundledTensor


Value = BundledTensor | Int | Bool | Double


@dataclass(frozen=True)
class BundledCase:
    """One execution's inputs and expected outputs, in the method's order."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]  # expected


Case = BundledCase


@dataclass(frozen=True)
class Suite:
    """The test cases of a method."""

    method: str
    cases: tuple[BundledCase, ...]


@dataclass(frozen=True)
class Bundle:
    """A program and its test cases."""

    program: bytes  # of a .pte
    suites: tuple[Suite, ...]
    version: int = VERSION
    tolerance: tuple[float, float] | None = None  # rtol and atol, if it states them

    def suite(self, method: str) -> Suite | None:
        return next((suite for suite in self.suites if suite.method == method), None)


def read(path: Path) -> Bundle:
    """The bundle in a file; SdkError when it is missing, damaged or something else."""
    return parse(files.read(path), str(path))


def parse(data: bytes, what: str = "the bundled program") -> Bundle:
    """The bundle in the bytes of a .bpte; SdkError when they are damaged."""
    files.expect(data, files.Kind.BUNDLE, what)
    record = flat.read(data, schema.BUNDLED_PROGRAM, what)
    problems: list[str] = []
    if not record["program"]:
        problems.append("it contains no program")
    suites = tuple(
        _suite(index, suite, problems)
        for index, suite in enumerate(record["method_test_suites"] or ())
    )
    if problems:
        raise SdkError(problem_list(f"{what} contradicts itself", problems), _DAMAGED)
    stated = _stated_tolerance(data, what)
    return Bundle(record["program"], suites, record["version"], stated)


def _stated_tolerance(data: bytes, what: str) -> tuple[float, float] | None:
    """What the file ends with, if Ember wrote it: ExecuTorch's format has no place."""
    if data[-_TOLERANCE.size :][: len(_MARK)] != _MARK:
        return None
    _, rtol, atol = _TOLERANCE.unpack(data[-_TOLERANCE.size :])
    if not (math.isfinite(rtol) and math.isfinite(atol) and min(rtol, atol) >= 0):
        raise SdkError(f"{what} states an impossible tolerance", _DAMAGED)
    return rtol, atol


def write(bundle: Bundle) -> bytes:
    """The bytes of a .bpte."""
    record = {
        "version": bundle.version,
        "method_test_suites": [
            {
                "method_name": suite.method,
                "test_cases": [
                    {
                        "inputs": [{"val": _value_record(v)} for v in case.inputs],
                        "expected_outputs": [
                            {"val": _value_record(v)} for v in case.outputs
                        ],
                    }
                    for case in suite.cases
                ],
            }
            for suite in bundle.suites
        ],
        "program": bundle.program,
    }
    data = flat_writer.write(record, schema.BUNDLED_PROGRAM, schema.BUNDLE_ID).data
    if bundle.tolerance is None:
        return data
    return data + _TOLERANCE.pack(_MARK, *bundle.tolerance)


def _suite(index: int, record: Record, problems: list[str]) -> Suite:
    name = record["method_name"]
    if not name:
        problems.append(f"test suite {index} names no method")
    cases = []
    for number, case in enumerate(record["test_cases"] or ()):
        where = f"suite {name!r}, case {number}"
        cases.append(
            BundledCase(
                _values(f"{where}, input", case["inputs"], problems),
                _values(f"{where}, output", case["expected_outputs"], problems),
            )
        )
    return Suite(name or "", tuple(cases))


def _values(
    where: str, records: tuple[Record, ...] | None, problems: list[str]
) -> tuple[Value, ...]:
    values: list[Value] = []
    for index, record in enumerate(records or ()):
        tagged = record["val"]
        if tagged is None:
            problems.append(f"{where} {index} has no kind")
            continue
        kind, content = tagged
        if kind == "Tensor":
            problem = _tensor_problem(content)
            if problem:
                problems.append(f"{where} {index} {problem}")
                continue
        values.append(_VALUES[kind](content))
    return tuple(values)


def _tensor_problem(record: Record) -> str | None:
    sizes, dim_order = record["sizes"] or (), tuple(record["dim_order"] or b"")
    if len(sizes) > _MOST_DIMENSIONS or any(size < 0 for size in sizes):
        return "has an impossible shape"
    if not tensors.is_dim_order(dim_order, len(sizes)):
        return "has a dim order that does not match its shape"
    needed = tensors.nbytes(DType(record["scalar_type"]), sizes)
    if needed != len(record["data"] or b""):
        return f"needs {needed} bytes, it has {len(record['data'] or b'')}"
    return None


def _tensor(record: Record) -> BundledTensor:
    return BundledTensor(
        dtype=DType(record["scalar_type"]),
        sizes=record["sizes"] or (),
        dim_order=tuple(record["dim_order"] or b""),
        data=record["data"] or b"",
    )


_VALUES: dict[str, Callable[[Record], Value]] = {
    "Tensor": _tensor,
    "Int": lambda record: Int(record["int_val"]),
    "Bool": lambda record: Bool(record["bool_val"]),
    "Double": lambda record: Double(record["double_val"]),
}


def _value_record(value: Value) -> tuple[str, Record]:
    match value:
        case Int(number):
            return "Int", {"int_val": number}
        case Bool(flag):
            return "Bool", {"bool_val": flag}
        case Double():
            return "Double", {"double_val": value.value}
        case BundledTensor():
            return "Tensor", {
                "scalar_type": int(value.dtype),
                "sizes": value.sizes,
                "data": value.data,
                "dim_order": bytes(value.dim_order),
            }
