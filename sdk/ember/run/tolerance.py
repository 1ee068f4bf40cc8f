"""Two values of a node become their difference, if it is beyond tolerance.

Integers must be equal. Floats of two right kernels differ by roundings, which grow
with what is added up: with the largest number that the node read or made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ember import program
from ember.cases import CaseTensor, compare, values
from ember.cases.compare import FirstDifference
from ember.files.tensors import DType
from ember.run import verdicts

_RTOL = 1e-4
_HALVES = {DType.FLOAT16: 2e-3, DType.BFLOAT16: 1.6e-2}  # of types of few bits
_OF_LARGEST = 0.1  # of rtol: of the largest number that the node makes
_OF_READ = 0.01  # of the largest that it reads


@dataclass(frozen=True)
class Tolerance:
    rtol: float | None = None  # given by the user
    atol: float | None = None

    def difference(
        self,
        declared: program.Value | None,
        actual: values.Value,
        expected: values.Value,
        read: float = 0.0,
    ) -> FirstDifference | None:
        """Of a value that is `declared` so (None: in no dim order); `read` is the
        largest number that the node read."""
        got, want = (_logical(declared, item) for item in (actual, expected))
        rtol = self.rtol if self.rtol is not None else _rtol(want)
        atol = self.atol
        if atol is None:
            atol = _OF_LARGEST * rtol * _largest(want) + _OF_READ * rtol * read
        return compare.difference(got, want, rtol=rtol, atol=atol)


def largest(given: Iterable[values.Value]) -> float:
    """The largest finite number in float tensors."""
    return max((_largest(_logical(None, value)) for value in given), default=0.0)


def _logical(declared: program.Value | None, value: values.Value) -> object:
    if declared is None:
        declared = program.Null()
    return verdicts.logical(declared, value)


def _rtol(value: object) -> float:
    return _HALVES.get(value.dtype, _RTOL) if isinstance(value, CaseTensor) else _RTOL


def _largest(value: object) -> float:
    if isinstance(value, float):
        return abs(value) if np.isfinite(value) else 0.0
    if not isinstance(value, CaseTensor) or not value.dtype.is_float:
        return 0.0
    numbers = np.abs(compare.numbers(value))
    return float(np.max(numbers, initial=0.0, where=np.isfinite(numbers)))
