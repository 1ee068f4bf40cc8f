"""cortex_m::quantized_div.out with what the dialect's exporter does not write: operands
that are repeated, and any scale and zero point; running this file with tests/shared on
the path writes the cases again."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from quotients import Quotient

Whole: TypeAlias = type[np.signedinteger[Any]]

ZEROS: dict[Whole, tuple[int, int, int]] = {
    np.int8: (3, -5, 7),
    np.int16: (300, -5, 7000),
}
SHAPES = {
    "number": ((3, 67), (1,)),  # the divisor
    "of_number": ((1,), (201,)),
    "rows": ((3, 67), (67,)),
    "columns": ((40, 5), (40, 1)),
    "short_rows": ((40, 5), (5,)),
}
# Zero points beyond int8, quotients beyond int16, none above a half, all in the middle
# between two integers or nearly so.
ODD = {
    "far": ((-32768, 32767, -100), 70.0),
    "large": ((0, 0, 0), -3e38),
    "small": ((-128, 127, 1), 1e-45),
    "nothing": ((1, 1, -128), 0.0),
    "ties": ((2, 1, 0), -1.5),
    "nearly": ((2, 1, 0), float(np.nextafter(np.float32(1.5), np.float32(2.0)))),
}


def operands(
    name: str, dtype: Whole, shapes: tuple[tuple[int, ...], ...]
) -> list[np.ndarray]:
    random = np.random.default_rng(len(name))
    limits = np.iinfo(dtype)
    return [
        random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        for shape in shapes
    ]


def write(name: str, case: Quotient) -> None:
    case.write(Path() / f"{name}_{case.a.dtype.name}")


for dtype, points in ZEROS.items():
    for name, shapes in SHAPES.items():
        a, b = operands(name, dtype, shapes)
        write(name, Quotient(a, b, points, float(np.iinfo(dtype).max) / 5))
    for name, (zeros, scale) in ODD.items():
        a, b = operands(name, dtype, ((171,), (171,)))
        if name in ("ties", "nearly"):
            b = (b % 9 - 4).astype(dtype)
        b[:3] = np.clip(zeros[1], np.iinfo(dtype).min, np.iinfo(dtype).max)
        write(name, Quotient(a, b, zeros, scale))
