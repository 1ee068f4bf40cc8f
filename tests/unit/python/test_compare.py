"""The rules by which an output equals the expected one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ember.cases import CaseTensor, Value, compare
from ember.files.tensors import DType


def tensor(values: object, dtype: DType = DType.FLOAT32) -> CaseTensor:
    return CaseTensor(dtype, np.array(values, dtype.numpy))


def verdict(
    got: object, want: Value, rtol: float = 0.0, atol: float = 0.0
) -> compare.Verdict:
    return compare.outputs([got], [want], rtol=rtol, atol=atol)


def test_floats_within_tolerance_pass() -> None:
    result = verdict(tensor([1.0, 2.0]), tensor([1.0, 2.001]), rtol=1e-3)
    assert result.problem is None
    assert result.max_abs_diff == pytest.approx(0.001, rel=1e-3)


def test_zero_tolerance_is_bit_exact() -> None:
    value = np.float32(1.0)
    near = np.nextafter(value, np.float32(2.0))
    assert verdict(tensor(value), tensor(value)).problem is None
    assert verdict(tensor(near), tensor(value)).problem is not None


def test_the_first_difference_is_named() -> None:
    got, want = tensor([[1, 2], [3, 9]]), tensor([[1, 2], [3, 4]])
    result = verdict(got, want)
    assert result.problem == (
        "output 0 differs at [1, 1]: 9, expected 4; 1 of 4 elements differ"
    )
    assert result.max_abs_diff == 5.0


def test_nan_equals_nan_and_infinities_match() -> None:
    special = tensor([math.nan, math.inf, -math.inf])
    result = verdict(special, special)
    assert (result.problem, result.max_abs_diff) == (None, 0.0)
    assert verdict(tensor([math.inf]), tensor([-math.inf]), rtol=1.0).problem
    assert verdict(tensor([1.0]), tensor([math.inf]), rtol=1.0).problem
    result = verdict(tensor([math.nan]), tensor([1.0]), rtol=1.0, atol=1.0)
    assert result.max_abs_diff == math.inf


@pytest.mark.parametrize(
    "want",
    [
        tensor([1.0, 2.0], DType.FLOAT64),
        tensor([[1.0, 2.0]]),
        tensor([1.0]),
        1.0,
        None,
    ],
    ids=str,
)
def test_dtype_and_shape_must_match(want: Value) -> None:
    problem = verdict(tensor([1.0, 2.0]), want, rtol=1.0, atol=9.0).problem
    assert problem is not None
    assert "float32[2]" in problem


def test_integers_and_bools_are_exact() -> None:
    big = 2**62
    got = tensor([big, 1], DType.INT64)
    result = verdict(got, tensor([big + 1, 1], DType.INT64), rtol=1.0, atol=100.0)
    assert result.problem is not None
    assert result.max_abs_diff == 1.0
    assert verdict(tensor([True], DType.BOOL), tensor([False], DType.BOOL)).problem
    unsigned = verdict(tensor([0], DType.UINT8), tensor([255], DType.UINT8))
    assert unsigned.max_abs_diff == 255.0


def test_bfloat16_is_compared_as_numbers() -> None:
    bits_want, bits_got = 0x3F80, 0x3F81  # 1.0 and 1.0078125
    got, want = (tensor([bits], DType.BFLOAT16) for bits in (bits_got, bits_want))
    assert verdict(got, want, rtol=0.01).problem is None
    assert "1.0078125, expected 1" in (verdict(got, want).problem or "")


def test_empty_and_0_d_tensors() -> None:
    assert verdict(tensor([]), tensor([])).problem is None
    assert verdict(tensor(2.0), tensor(3.0)).problem == (
        "output 0 differs: 2, expected 3"
    )


@pytest.mark.parametrize(
    ("got", "want", "dtype", "numbers", "gap"),
    [
        (306, 186, DType.INT64, "306, expected 186", 120.0),
        (-1, 255, DType.INT16, "-1, expected 255", 256.0),
        (True, False, DType.BOOL, "True, expected False", 1.0),
    ],
)
def test_0_d_tensors_of_integers(
    got: int, want: int, dtype: DType, numbers: str, gap: float
) -> None:
    result = verdict(tensor(got, dtype), tensor(want, dtype))
    assert result.problem == f"output 0 differs: {numbers}"
    assert result.max_abs_diff == gap
    assert verdict(tensor(want, dtype), tensor(want, dtype)).problem is None


@pytest.mark.parametrize(
    ("got", "want", "equal"),
    [
        (3, 3, True),
        (3, 4, False),
        (True, True, True),
        (True, 1, False),
        (1, True, False),
        (0.5, 0.5, True),
        (2.0, 2, True),
        (2, 2.0, False),
        (math.nan, math.nan, True),
        (None, None, True),
        (None, 0, False),
        ("a", "a", True),
        ("a", "b", False),
    ],
)
def test_other_values(got: object, want: Value, equal: bool) -> None:
    assert (verdict(got, want).problem is None) is equal


def test_more_outputs_than_expected_are_fine_fewer_are_not() -> None:
    result = compare.outputs([1, 2], [1], rtol=0, atol=0)
    assert result.problem is None
    result = compare.outputs([1], [1, 2], rtol=0, atol=0)
    assert result.problem == "output 1 is missing"
    assert compare.outputs([1], [], rtol=0, atol=0).max_abs_diff is None
