"""Tensor bytes <-> numpy arrays, and blobs <-> the aligned segments of a file.

Arrays have element types, shapes and dim orders. Segments follow the FlatBuffer of a
.pte or .ptd file.
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ember.files import schema

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]
else:
    Array = Any


__all__ = [
    "Array",
    "DType",
    "contiguous",
    "from_bytes",
    "is_dim_order",
    "nbytes",
    "same_order",
    "shape_text",
    "strides",
    "to_bytes",
]


class DType(enum.IntEnum):
    """Element types, numbered as in ExecuTorch; `label` is the name in PyTorch."""

    UINT8 = 0
    INT8 = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    FLOAT16 = 5
    FLOAT32 = 6
    FLOAT64 = 7
    BOOL = 11
    QINT8 = 12
    QUINT8 = 13
    QINT32 = 14
    BFLOAT16 = 15
    QUINT4X2 = 16
    QUINT2X4 = 17
    BITS16 = 22
    FLOAT8_E5M2 = 23
    FLOAT8_E4M3FN = 24
    FLOAT8_E5M2FNUZ = 25
    FLOAT8_E4M3FNUZ = 26
    UINT16 = 27
    UINT32 = 28
    UINT64 = 29

    @property
    def label(self) -> str:
        """PyTorch's name, such as float32."""
        return schema.SCALAR_TYPE.members[self.value]

    @functools.cached_property
    def itemsize(self) -> int:
        """Bytes of one element as ExecuTorch counts them."""
        bits = _numpy_name(self).lstrip("abcdefghijklmnopqrstuvwxyz")
        return int(bits) // 8 if bits else 1

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy type with the same bits; uint16 for bfloat16, uint8 for float8."""
        import numpy as np

        return np.dtype(_numpy_name(self)).newbyteorder("<")

    @property
    def is_float(self) -> bool:
        return self.label.startswith(("float", "bfloat"))

    @staticmethod
    def named(label: str) -> DType | None:
        """The type with that label, or None."""
        return next((dtype for dtype in DType if dtype.label == label), None)


_NUMPY = {
    DType.QINT8: "int8",
    DType.QUINT8: "uint8",
    DType.QINT32: "int32",
    DType.BFLOAT16: "uint16",
    DType.QUINT4X2: "uint8",
    DType.QUINT2X4: "uint8",
    DType.BITS16: "uint16",
    DType.FLOAT8_E5M2: "uint8",
    DType.FLOAT8_E4M3FN: "uint8",
    DType.FLOAT8_E5M2FNUZ: "uint8",
    DType.FLOAT8_E4M3FNUZ: "uint8",
}


def _numpy_name(dtype: DType) -> str:
    return _NUMPY.get(dtype, dtype.label)


def nbytes(dtype: DType, sizes: Sequence[int]) -> int:
    """Bytes of a tensor of this shape."""
    return math.prod(sizes) * dtype.itemsize


def strides(sizes: Sequence[int], dim_order: Sequence[int]) -> tuple[int, ...]:
    """Steps in elements per dimension; `dim_order` lists dimensions outermost first."""
    steps = [0] * len(sizes)
    step = 1
    for dim in reversed(dim_order):
        steps[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(steps)


def contiguous(rank: int) -> tuple[int, ...]:
    """The dim order of a contiguous tensor."""
    return tuple(range(rank))


def is_dim_order(dim_order: Sequence[int], rank: int) -> bool:
    """Whether each of `rank` dimensions is listed once."""
    return sorted(dim_order) == list(range(rank))


def same_order(
    sizes: Sequence[int], first: Sequence[int], other: Sequence[int]
) -> bool:
    """Whether two dim orders give a tensor of these sizes the same layout: dimensions
    of size 1 may be anywhere, and any order will do for a tensor without elements."""
    orders = ([dim for dim in order if sizes[dim] != 1] for order in (first, other))
    return 0 in sizes or next(orders) == next(orders)


def from_bytes(
    data: bytes, dtype: DType, sizes: Sequence[int], dim_order: Sequence[int]
) -> Array:
    """The logical array, in PyTorch's shape, of a tensor stored in `dim_order`."""
    import numpy as np

    stored = np.frombuffer(data, dtype.numpy, count=math.prod(sizes))
    in_order = stored.reshape([sizes[dim] for dim in dim_order])
    return in_order.transpose(np.argsort(dim_order)) if len(sizes) else in_order


def to_bytes(
    array: Array, dtype: DType, dim_order: Sequence[int] | None = None
) -> bytes:
    """The bytes of a logical array, laid out in `dim_order` (contiguous by default)."""
    import numpy as np

    if dim_order is not None and array.ndim:
        array = array.transpose(tuple(dim_order))
    return np.ascontiguousarray(array, dtype.numpy).tobytes()


def shape_text(sizes: Sequence[int]) -> str:
    """Such as [1, 3, 8, 8]."""
    return "[" + ", ".join(str(size) for size in sizes) + "]"


# ---- data in segments ----------------------------------------------------------------


Data = bytes | memoryview
MOST_ALIGNMENT = 4096


@dataclass(frozen=True)
class SegmentLayout:
    offsets: tuple[int, ...]
    pieces: tuple[Data, ...]  # in file order, with the padding between blobs
    size: int  # bytes


def align_up(size: int, alignment: int) -> int:
    return (size + alignment - 1) // alignment * alignment


def place(
    blobs: Iterable[Sequence[Data]], alignment: int, *, share: bool = False
) -> SegmentLayout:
    """Lay out blobs, each a row of pieces, at aligned offsets; no gap at the end.

    With `share`, equal blobs get the same offset.
    """
    pieces: list[Data] = []
    size = 0
    offsets: list[int] = []
    known: dict[Sequence[Data], int] = {}
    for blob in blobs:
        offset = known.get(blob) if share else None
        if offset is None:
            offset = align_up(size, alignment)
            pieces += (bytes(offset - size), *blob)
            size = offset + sum(map(len, blob))
            if share:
                known[blob] = offset
        offsets.append(offset)
    return SegmentLayout(tuple(offsets), tuple(pieces), size)


def alignment_of(gaps: Sequence[tuple[int, int]], usual: int) -> int:
    """The alignment that explains `(end of the one before, start)` pairs.

    `usual` when that explains all of them, else the smallest power of two that does,
    else the largest one that divides every start.
    """
    powers = [1 << bit for bit in range(MOST_ALIGNMENT.bit_length())]
    for alignment in (usual, *powers):
        if all(align_up(end, alignment) == start for end, start in gaps):
            return alignment
    return max(
        power for power in powers if all(start % power == 0 for _, start in gaps)
    )
