"""Which row of a tensor is the newest one, by the rows of the sink.

Not more than is asked for: at each row of the sink where a reader runs, it finds the
newest row at the same distance from those that it wants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Pace:
    """Row floor((slope * t + offset) / every) is the newest when the sink makes row t;
    `slope` or `every` is 1."""

    slope: int = 1
    every: int = 1
    offset: int = 0

    def of_input(self, step: int, stride: int, further: int) -> Pace | None:
        """Of what a call reads that makes `step` rows at this pace at a time, and wants
        row n * stride + further as the newest at its n-th time. None: it is no pace."""
        common = math.gcd(self.slope, step)
        slope, step = self.slope // common, step // common
        offset = self.offset // common
        if slope > 1 and step > 1:
            return None
        every = self.every * step
        if every == 1:
            return Pace(slope * stride, 1, offset * stride + further)
        if stride % every == 0:
            factor = stride // every
            return Pace(factor, 1, offset * factor + further)
        if every % stride == 0:
            rest = every // stride
            return Pace(1, rest, offset + further * rest)
        return None

    def is_like(self, other: Pace) -> bool:
        """Whether both advance as fast."""
        return (self.slope, self.every) == (other.slope, other.every)

    def later(self, other: Pace) -> Pace:
        """The one that is ahead."""
        return replace(self, offset=max(self.offset, other.offset))

    def ahead_of(self, reader: Pace) -> int:
        """Rows, whenever the reader runs."""
        return (self.offset - reader.offset) // self.every
