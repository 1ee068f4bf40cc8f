"""kernels/engine/mathf against NumPy in double: the bounds its header promises; and
functions of several numbers at a time against it: the same bits."""

from __future__ import annotations

import ctypes
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import paths

UNARY: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
    "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "erf": np.vectorize(math.erf), "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "round": np.round,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip
BINARY: dict[str, Callable[..., Any]] = {
    "pow": np.power,
    "atan2": np.arctan2,
    "fmod": np.fmod,
}
BOUNDS = dict.fromkeys(("tan", "asin", "acosh", "atan2", "sigmoid"), 3.0)
FLUSHED = {"sigmoid"}  # denormal results may be zero
EXACT = {"floor", "ceil", "trunc", "round", "fmod"}
SPECIAL = np.array(
    [0.0, -0.0, 1, -1, 0.5, 2, np.inf, -np.inf, np.nan, 88.72283, -87.4, 1e-45],
    dtype=np.float32,
)
SMALLEST_NORMAL = np.float32(2.0**-126)

DRIVER = """
#include "kernels/engine/mathf.h"
void each(float (*f)(float), const float *x, float *y, int n);
void pairs(float (*f)(float, float), const float *a, const float *b, float *y, int n);
void each(float (*f)(float), const float *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = f(x[i]);
}
void pairs(float (*f)(float, float), const float *a, const float *b, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = f(a[i], b[i]);
}
"""
VECTORS = ("erf", "exp", "gelu", "gelu_tanh", "sigmoid", "tanh")  # of mathf_neon.h
VECTOR_DRIVER = """
void all_NAME(const float *x, float *y, int n);
void all_NAME(const float *x, float *y, int n) {
    for (int i = 0; i < n; i += 4) vst1q_f32(y + i, neon_NAME(vld1q_f32(x + i)));
}
"""


def compiled(folder: Path, text: str, *folders: str) -> ctypes.CDLL:
    (folder / "driver.c").write_text(text)
    sources = sorted((paths.kernels() / "engine").glob("mathf_*.c"))
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fPIC"]
    flags += [f"-I{paths.root() / name}" for name in ("", *folders)]
    subprocess.run(
        ["cc", *flags, "-shared", "-o", str(folder / "mathf.so")]
        + [str(source) for source in [folder / "driver.c", *sources]],
        check=True,
    )
    return ctypes.CDLL(str(Path(folder / "mathf.so")))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(tmp_path_factory.mktemp("mathf"), DRIVER)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Functions of mathf_neon.h, on the model of its instructions."""
    text = '#include "kernels/engine/neon/mathf_neon.h"\n'
    text += "".join(VECTOR_DRIVER.replace("NAME", name) for name in VECTORS)
    return compiled(tmp_path_factory.mktemp("vectors"), text, "kernels/models")


def inputs(count: int, seed: int) -> np.ndarray:
    """Random bit patterns, numbers of common sizes, and special ones."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32)
    near = [random.normal(0, scale, count) for scale in (0.01, 0.5, 1, 3, 30)]
    around_one = 1 + random.normal(0, 0.05, count)
    floats = np.concatenate([*near, around_one]).astype(np.float32)
    return np.concatenate([bits.view(np.float32), floats, SPECIAL])


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def check(name: str, got: np.ndarray, want: np.ndarray) -> None:
    rounded = want.astype(np.float32)
    assert np.array_equal(np.isnan(got), np.isnan(rounded))
    infinite = np.isinf(rounded) | np.isinf(got)
    assert np.array_equal(got[infinite], rounded[infinite])
    zero = (rounded == 0) & (got == 0)
    assert np.array_equal(np.signbit(got[zero]), np.signbit(rounded[zero]))
    finite = np.isfinite(rounded) & np.isfinite(got)
    if name in FLUSHED:
        finite &= np.abs(want) >= SMALLEST_NORMAL
        assert np.abs(got[np.abs(want) < SMALLEST_NORMAL]).max() <= SMALLEST_NORMAL
    size = np.spacing(np.maximum(np.abs(rounded[finite]), SMALLEST_NORMAL))
    error = np.abs(got[finite].astype(np.float64) - want[finite]) / size
    assert error.max() <= (0.0 if name in EXACT else BOUNDS.get(name, 2.0))


@pytest.mark.parametrize("name", UNARY)
def test_one_argument(library: ctypes.CDLL, name: str) -> None:
    x = inputs(100_000, 1)
    got = np.empty_like(x)
    library.each(library[f"ember_{name}f"], pointer(x), pointer(got), len(x))
    with np.errstate(all="ignore"):
        check(name, got, UNARY[name](x.astype(np.float64)))


def test_gelu(library: ctypes.CDLL) -> None:
    """Both forms add 1 to a number near -1, so their unit is that of x."""
    x = inputs(100_000, 4)
    x = x[np.abs(x) < 1e4]
    wide = x.astype(np.float64)
    inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
    sums = {"gelu": np.vectorize(math.erf)(wide * math.sqrt(0.5))}
    sums["gelu_tanh"] = np.tanh(inner)
    for name, part in sums.items():
        got = np.empty_like(x)
        library.each(library[f"ember_{name}f"], pointer(x), pointer(got), len(x))
        unit = np.spacing(np.maximum(np.abs(x), SMALLEST_NORMAL))
        error = np.abs(got - wide * (1 + part) / 2) / unit
        assert error.max() <= 2.0


@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(library: ctypes.CDLL, name: str) -> None:
    a, b = inputs(50_000, 2), inputs(50_000, 3)
    a = np.concatenate([a, np.repeat(SPECIAL, len(SPECIAL))])
    b = np.concatenate([b, np.tile(SPECIAL, len(SPECIAL))])
    with np.errstate(invalid="ignore"):
        b[::5] = np.round(b[::5])
    got = np.empty_like(a)
    library.pairs(
        library[f"ember_{name}f"], pointer(a), pointer(b), pointer(got), len(a)
    )
    with np.errstate(all="ignore"):
        check(name, got, BINARY[name](a.astype(np.float64), b.astype(np.float64)))


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(library: ctypes.CDLL, vectors: ctypes.CDLL, name: str) -> None:
    x = inputs(400_000, 5)
    edges = np.array([0.625, 0.875 * 2**0.5, 3.93, 9.1, 88.7228394, 103.98], "f4")
    for edge in (*edges, *-edges):
        around = np.float32(edge).view(np.uint32) + np.arange(-64, 64)
        x = np.concatenate([x, around.astype(np.uint32).view(np.float32)])
    x = x[: len(x) // 4 * 4]
    got, want = np.empty_like(x), np.empty_like(x)
    vectors[f"all_{name}"](pointer(x), pointer(got), len(x))
    library.each(library[f"ember_{name}f"], pointer(x), pointer(want), len(x))
    same = got.view(np.uint32) == want.view(np.uint32)
    assert np.all(same | (np.isnan(got) & np.isnan(want)))
