"""cortex_m::quantized_div.out as NumPy computes it in float32: cases of one call."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy_calls

from ember.files.tensors import Array


@dataclass(frozen=True)
class Quotient:
    a: Array  # int8 or int16, as b, of shapes that broadcast
    b: Array
    zeros: tuple[int, int, int]  # of a, b, y
    scale: float

    def result(self) -> Array:
        """What is divided by 0 is 0."""
        over = (self.a.astype(np.int32) - self.zeros[0]).astype(np.float32)
        under = (self.b.astype(np.int32) - self.zeros[1]).astype(np.float32)
        over, under = np.broadcast_arrays(over, under)
        ratio = np.zeros_like(over)
        np.divide(over, under, out=ratio, where=under != 0)
        with np.errstate(over="ignore", under="ignore"):
            rounded = np.rint(ratio * np.float32(self.scale))
        limits = np.iinfo(self.a.dtype)
        moved = np.clip(rounded + self.zeros[2], limits.min, limits.max)
        quotient: Array = moved.astype(self.a.dtype)
        return quotient

    def write(self, folder: Path) -> None:
        given = [self.a, self.zeros[0], self.b, *self.zeros[1:], float(self.scale)]
        numpy_calls.write(folder, "cortex_m::quantized_div.out", given, [self.result()])
