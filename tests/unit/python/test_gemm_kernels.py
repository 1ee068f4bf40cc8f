# SPDX-License-Identifier: Apache-2.0
"""Variants of the float32 matrix product, on models of their instructions: the sums of
the definition for every length of a tail, and nothing written beside them."""

from __future__ import annotations

import ctypes
import itertools
import subprocess

import numpy as np
import pytest

from ember import paths

VARIANTS = ("", "_fpu", "_mve", "_neon")
SOURCES = ("gemm_f32", *(f"{v[1:]}/gemm_f32{v}" for v in VARIANTS if v))
EXACT = ("fpu",)  # the bits of the portable one
GUARD = 77.0


class Gemm(ctypes.Structure):
    """ember_gemm_f32_t"""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("a", "b", "bias", "c")),
        *((name, ctypes.c_int32) for name in ("rows", "inner", "columns")),
        *((f"{name}_stride", ctypes.c_int32) for name in "abc"),
        *((f"bias_{name}", ctypes.c_int32) for name in ("row", "column")),
        *((name, ctypes.c_float) for name in ("alpha", "beta")),
    ]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library_path = tmp_path_factory.mktemp("gemm") / "gemm.so"
    root, kernels = paths.root(), paths.kernels()
    include = [f"-I{root}", f"-I{root}/runtime_c/include", f"-I{kernels}/models"]
    sources = [str(kernels / "engine" / f"{name}.c") for name in SOURCES]
    flags = ["-std=c11", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-lm"]
    flags += ["-fsanitize=undefined", "-fno-sanitize-recover"]
    subprocess.run(
        ["cc", *include, *sources, *flags, "-o", str(library_path)], check=True
    )
    return ctypes.CDLL(str(library_path))


def address(array: np.ndarray | None) -> int | None:
    return None if array is None else int(array.ctypes.data)


def check(library: ctypes.CDLL, name: str, sizes: tuple[int, int, int]) -> None:
    """One product of random numbers, with gaps between rows that must stay."""
    rows, inner, columns = sizes
    random = np.random.default_rng(rows * 10000 + inner * 100 + columns)
    by_rows = name.startswith("rows")
    gap = int(random.integers(0, 3))
    a = random.normal(size=(rows, inner + gap)).astype(np.float32)
    lines, length = (inner, columns) if by_rows else (columns, inner)
    b = random.normal(size=(lines, length + gap)).astype(np.float32)
    c = np.full((rows, columns + gap), GUARD, np.float32)
    kind = int(random.integers(0, 4))  # of the bias: none, one row, one column, all
    shape = {1: (1, columns), 2: (rows, 1), 3: (rows, columns)}.get(kind)
    bias = random.normal(size=shape).astype(np.float32) if shape else None
    alpha, beta = (1.0, 1.0) if kind < 3 else (0.5, -2.0)
    gemm = Gemm(
        *(address(operand) for operand in (a, b, bias, c)),
        *sizes,
        *(matrix.shape[1] for matrix in (a, b, c)),
        columns if kind == 3 else int(kind == 2),
        int(kind in (1, 3)),
        alpha,
        beta,
    )
    library[f"ember_gemm_f32_{name}"](ctypes.byref(gemm))
    form, *variant = name.split("_")
    if variant and variant[0] in EXACT:
        portable = np.full_like(c, GUARD)
        gemm.c = address(portable)
        library[f"ember_gemm_f32_{form}"](ctypes.byref(gemm))
        assert np.array_equal(c.view(np.uint32), portable.view(np.uint32)), sizes
    left, right = a[:, :inner].astype(np.float64), b[:, :length].astype(np.float64)
    right = right if by_rows else right.T
    more: np.ndarray | float = 0.0 if bias is None else beta * bias.astype(np.float64)
    want = alpha * (left @ right) + more
    most = abs(alpha) * (abs(left) @ abs(right)) + np.abs(more)
    assert (abs(c[:, :columns] - want) <= 1e-6 * most + 1e-30).all(), sizes
    assert (c[:, columns:] == GUARD).all(), sizes


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("form", ["rows", "columns"])
def test_products(library: ctypes.CDLL, form: str, variant: str) -> None:
    sides = (1, 2, 3, 4, 5, 7, 8, 9, 13)
    for sizes in itertools.product(sides, (1, 2, 3, 4, 5, 7, 8, 11), sides):
        check(library, form + variant, sizes)
    for sizes in itertools.product((1, 6), (0, 16, 19), (16, 17, 31, 32, 33, 47, 64)):
        check(library, form + variant, sizes)
