"""A call of elements, in a region by itself, becomes one whose rows are parts of rows.

Its windows are short then: what quantises a float32 image of 224 columns takes 840
bytes instead of 3,360.
"""

from __future__ import annotations

from dataclasses import replace

from ember.plan.rows import reads
from ember.plan.rows.reads import RowCall
from ember.program import types

_MOST = 1000  # bytes of windows that are not cut


def of(call: RowCall) -> RowCall | None:
    """None where rows are short, and where a row has other columns than its input."""
    columns = call.tensor.sizes[-1]
    tensors = [call.tensor, *(read.tensor for read in call.reads)]
    row = sum(map(reads.row_bytes, tensors))
    if not call.is_elementwise or row <= _MOST:
        return None
    counts = (
        n for n in range(2, columns + 1) if columns % n == 0 and row // n <= _MOST
    )
    count = next(counts, None)
    if count is None:
        return None
    cut = [replace(read, tensor=_cut(read.tensor, count)) for read in call.reads]
    return replace(call, tensor=_cut(call.tensor, count), reads=tuple(cut))


def _cut(image: types.Tensor, count: int) -> types.Tensor:
    n, c, h, w = image.sizes
    return replace(image, sizes=(n, c, h * count, w // count))
