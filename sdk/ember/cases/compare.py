"""Actual and expected outputs of a run become a verdict: equal, or what differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ember.cases import CaseTensor, Value, describe
from ember.files.tensors import Array, DType, shape_text


@dataclass(frozen=True)
class Verdict:
    """`problem` is None if all outputs match; the largest |a - b| of all numbers."""

    problem: str | None
    max_abs_diff: float | None  # None: nothing was compared


@dataclass(frozen=True)
class FirstDifference:
    """The first element that differs beyond tolerance."""

    index: tuple[int, ...]
    actual: object
    expected: object
    count: int  # of elements that differ
    of: int
    text: str  # in words


def outputs(
    got: Sequence[object], expected: Sequence[Value], *, rtol: float, atol: float
) -> Verdict:
    """Compare the first len(expected) outputs of a run.

    Integers, bools and strings must be equal; floats pass when
    |got - expected| <= atol + rtol * |expected|, NaN equals NaN.
    """
    worst: float | None = None
    problem: str | None = None
    for index, want in enumerate(expected):
        verdict = (
            _compare(got[index], want, rtol, atol)
            if index < len(got)
            else Verdict("is missing", None)
        )
        if verdict.problem is not None and problem is None:
            problem = f"output {index} {verdict.problem}"
        if verdict.max_abs_diff is not None:
            worst = max(worst or 0.0, verdict.max_abs_diff)
    return Verdict(problem, worst)


def difference(
    got: object, want: object, *, rtol: float, atol: float
) -> FirstDifference | None:
    """Where a value differs from another one, as outputs() compares them."""
    if isinstance(want, CaseTensor) and isinstance(got, CaseTensor):
        if got.dtype is not want.dtype or got.array.shape != want.array.shape:
            return FirstDifference(
                (), str(got), str(want), 1, 1, f"is {got}, not {want}"
            )
        if not want.dtype.is_float:
            return _difference(
                got.array != want.array, got.array, want.array, want.dtype
            )
        a, b = numbers(got), numbers(want)
        return _difference(~_close(a, b, rtol, atol), a, b, want.dtype)
    text = _compare(got, want, rtol, atol).problem  # type: ignore[arg-type]
    return None if text is None else FirstDifference((), got, want, 1, 1, text)


def _difference(
    bad: Array, got: Array, want: Array, dtype: DType
) -> FirstDifference | None:
    if not bad.any():
        return None
    index = tuple(int(number) for number in np.argwhere(bad)[0])
    count = int(np.count_nonzero(bad))
    text = _first(bad, got, want, dtype)
    return FirstDifference(
        index, got[index].item(), want[index].item(), count, bad.size, text
    )


def _compare(got: object, want: Value, rtol: float, atol: float) -> Verdict:
    if isinstance(want, CaseTensor) and isinstance(got, CaseTensor):
        return _tensors(got, want, rtol, atol)
    wrong = Verdict(f"is {describe(got)}, expected {describe(want)}", None)
    if isinstance(want, bool | str | None) or isinstance(got, bool | str | None):
        return Verdict(None, None) if type(got) is type(want) and got == want else wrong
    if isinstance(want, CaseTensor) or not isinstance(got, int | float):
        return wrong
    if isinstance(got, int) and not isinstance(want, int):
        return wrong
    if isinstance(got, int):
        return Verdict(None if got == want else wrong.problem, float(abs(got - want)))
    a, b = np.array(got, np.float64), np.array(want, np.float64)
    close = bool(_close(a, b, rtol, atol))
    return Verdict(None if close else wrong.problem, _largest(_gap(a, b)))


def _tensors(got: CaseTensor, want: CaseTensor, rtol: float, atol: float) -> Verdict:
    if got.dtype is not want.dtype or got.array.shape != want.array.shape:
        return Verdict(f"is {got}, expected {want}", None)
    if not want.dtype.is_float:
        return _exact(got, want)
    a, b = numbers(got), numbers(want)
    if a.size == 0:
        return Verdict(None, 0.0)
    bad = ~_close(a, b, rtol, atol)
    return Verdict(
        _first(bad, a, b, want.dtype) if bad.any() else None, _largest(_gap(a, b))
    )


def _exact(got: CaseTensor, want: CaseTensor) -> Verdict:
    bad = got.array != want.array
    if not bad.any():
        return Verdict(None, 0.0)
    pairs = zip(got.array[bad].tolist(), want.array[bad].tolist(), strict=True)
    worst = max(abs(int(a) - int(b)) for a, b in pairs)
    return Verdict(_first(bad, got.array, want.array, want.dtype), float(worst))


def numbers(tensor: CaseTensor) -> Array:
    """The elements of a float tensor as float64, exactly."""
    if tensor.dtype is DType.BFLOAT16:
        return (
            (tensor.array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        )
    return tensor.array.astype(np.float64)


def _close(a: Array, b: Array, rtol: float, atol: float) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(a - b) <= atol + rtol * np.abs(b)
        close: Array = (a == b) | (near & np.isfinite(b)) | (np.isnan(a) & np.isnan(b))
    return close


def _gap(a: Array, b: Array) -> Array:
    """|a - b|; 0 for equal infinities and NaNs, infinite if only one is NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(a - b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.where(np.isnan(gap), math.inf, gap))


def _largest(gap: Array) -> float:
    return float(np.max(gap, initial=0.0))


def _first(bad: Array, got: Array, want: Array, dtype: DType) -> str:
    """For example: differs at [0, 3]: 1.25, expected 1.5; 2 of 8 elements differ."""
    index = tuple(int(number) for number in np.argwhere(bad)[0])
    where = f" at {shape_text(index)}" if index else ""
    count = int(np.count_nonzero(bad))
    more = f"; {count:,} of {bad.size:,} elements differ" if bad.size > 1 else ""
    digits = 17 if dtype is DType.FLOAT64 else 9
    values = [_number(array[index], digits) for array in (got, want)]
    return f"differs{where}: {values[0]}, expected {values[1]}{more}"


def _number(value: object, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, np.floating) else str(value)
