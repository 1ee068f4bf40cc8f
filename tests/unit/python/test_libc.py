from __future__ import annotations

import ctypes
import functools
import math
import random
import struct
import subprocess
from collections.abc import Callable
from typing import cast

import pytest

from ember import paths

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 1e-320, -1e-310, 5e-324]
SPECIAL += [1e300, -1e300, 1.7e308, math.inf, -math.inf, math.nan, 2.5, -2.5, 3.5]
SPECIAL += [709.0, 710.0, -745.0, -746.0, 0.7071067811865475, 1e22, 2**52 + 1.0, 1e-9]

# The most units in the last place that a function may be off.
UNARY = {
    "exp": 2,
    "exp2": 2,
    "expm1": 3,
    "log": 2,
    "log2": 2,
    "log10": 2,
    "log1p": 3,
    "sin": 2,
    "cos": 2,
    "tan": 4,
    "asin": 4,
    "acos": 4,
    "atan": 2,
    "sinh": 4,
    "cosh": 3,
    "tanh": 4,
    "asinh": 4,
    "acosh": 4,
    "atanh": 4,
    "cbrt": 4,
    "erf": 6,
    "floor": 0,
    "ceil": 0,
    "trunc": 0,
    "fabs": 0,
}
BINARY = {"pow": 6, "atan2": 4, "hypot": 2, "fmod": 0, "remainder": 0, "copysign": 0}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = paths.runtime() / "libc"
    library_path = tmp_path_factory.mktemp("libc") / "libember.so"
    sources = [
        path for path in (folder / "math").glob("*.c") if path.stem != "hardware"
    ]
    flags = ["-std=c11", "-O2", "-fno-builtin", "-ffp-contract=off", "-fPIC", "-shared"]
    flags += ["-Wl,-Bsymbolic", f"-I{folder / 'include'}"]
    subprocess.run(["cc", *flags, *sources, "-o", library_path, "-lm"], check=True)
    return ctypes.CDLL(str(library_path))


def steps(a: float, b: float) -> float:
    """How many doubles lie between a and b; 0 for two NaNs."""
    if math.isnan(a) or math.isnan(b):
        return 0 if math.isnan(a) and math.isnan(b) else math.inf

    def order(x: float) -> int:
        (bits,) = struct.unpack("<q", struct.pack("<d", x))
        assert isinstance(bits, int)
        return bits if bits >= 0 else -(bits & (2**63 - 1))

    return abs(order(a) - order(b))


def reference(name: str, *values: float) -> float:
    if name in {"floor", "ceil", "trunc"}:
        if not math.isfinite(values[0]):
            return values[0]
        return math.copysign(float(getattr(math, name)(values[0])), values[0])
    return call(host_library(), name, *values)


@functools.cache
def host_library() -> ctypes.CDLL:
    return ctypes.CDLL("libm.so.6")


@functools.cache
def function_of(library: ctypes.CDLL, name: str, count: int) -> Callable[..., float]:
    function = getattr(library, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * count
    return cast("Callable[..., float]", function)


def call(library: ctypes.CDLL, name: str, *values: float) -> float:
    return function_of(library, name, len(values))(*values)


def samples(seed: str, count: int) -> list[float]:
    source = random.Random(seed)
    values = list(SPECIAL)
    for _ in range(count):
        values.append(source.uniform(-1, 1))
        values.append(source.uniform(-20, 20))
        values.append(source.uniform(-1, 1) * 2.0 ** source.randint(-80, 80))
        values.append(source.uniform(-1, 1) * 2.0 ** source.randint(-1000, 1000))
    return values


@pytest.mark.slow
@pytest.mark.parametrize(("name", "limit"), UNARY.items())
def test_one_argument(library: ctypes.CDLL, name: str, limit: int) -> None:
    for x in samples(name, 4000):
        got, want = call(library, name, x), reference(name, x)
        assert steps(got, want) <= limit, (name, x, got, want)
        if want == 0.0:
            assert math.copysign(1, got) == math.copysign(1, want), (name, x)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "limit"), BINARY.items())
def test_two_arguments(library: ctypes.CDLL, name: str, limit: int) -> None:
    pairs = [(x, y) for x in SPECIAL for y in SPECIAL]
    others = samples(name, 1000)
    pairs += zip(others, reversed(others), strict=True)
    pairs += [(abs(x), y % 40) for x, y in zip(others, others[7:], strict=False)]
    for x, y in pairs:
        got, want = call(library, name, x, y), reference(name, x, y)
        assert steps(got, want) <= limit, (name, x, y, got, want)
        if want == 0.0:
            assert math.copysign(1, got) == math.copysign(1, want), (name, x, y)


def test_erfc_keeps_relative_precision_where_it_is_small(library: ctypes.CDLL) -> None:
    for x in samples("erfc", 2000):
        want = reference("erfc", x)
        got = call(library, "erfc", x)
        if 2.3e-308 < want < 1:
            assert abs(got - want) <= 2e-14 * want, (x, got, want)
        else:
            assert steps(got, want) <= 4 or want < 2.3e-308


@pytest.mark.parametrize("name", ["rint", "nearbyint", "round"])
def test_rounding_is_exact(library: ctypes.CDLL, name: str) -> None:
    for x in [*samples(name, 2000), *(k / 2 for k in range(-9, 10))]:
        assert steps(call(library, name, x), reference(name, x)) == 0, x


def test_scaling_rounds_once(library: ctypes.CDLL) -> None:
    library.ldexp.restype = ctypes.c_double
    library.ldexp.argtypes = [ctypes.c_double, ctypes.c_int]
    for x in (1.0, 1.5, -0.75, 5e-324, 1.7e308, 0.0, math.inf):
        for exponent in (-5000, -1080, -1074, -1023, -1022, -1, 0, 1, 1023, 2098, 5000):
            host = ctypes.CDLL("libm.so.6").ldexp
            host.restype = ctypes.c_double
            host.argtypes = [ctypes.c_double, ctypes.c_int]
            assert library.ldexp(x, exponent) == host(x, exponent), (x, exponent)
