"""Inputs become the bytes that a firmware reads; the bytes it writes become values.

The format is described in runtime_c/app/values.h.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ember.errors import SdkError
from ember.files import tensors

_MAGIC = b"EMV1"
_HEAD = struct.Struct("<IIII")  # kind, dtype, rank, bytes
_MOST_RANK = 16
_NUMBER_SIZE = 8  # bytes
NONE, INT, BOOL, DOUBLE, TENSOR, STRING = 1, 2, 3, 4, 5, 6  # ember_kind_t
_DTYPES = frozenset(map(int, tensors.DType))
_NUMBERS = (INT, BOOL, DOUBLE)


@dataclass(frozen=True)
class TensorValue:
    """A tensor as it is stored in memory: `data` is in dim order."""

    dtype: tensors.DType
    sizes: tuple[int, ...]
    data: bytes

    def array(self, dim_order: Sequence[int] | None = None) -> np.ndarray:
        """The logical tensor; contiguous unless `dim_order` is given."""
        order = tuple(dim_order) if dim_order else tensors.contiguous(len(self.sizes))
        return tensors.from_bytes(self.data, self.dtype, self.sizes, order)


@dataclass(frozen=True)
class OtherValue:
    """A value that is not transferred: a list."""

    kind: int


Scalar = int | float | bool | str | None
Value = TensorValue | OtherValue | Scalar


def to_bytes(values: Sequence[Value]) -> bytes:
    return b"".join(
        [_MAGIC, struct.pack("<I", len(values)), *(_value_bytes(v) for v in values)]
    )


def _value_bytes(value: Value) -> bytes:
    if isinstance(value, TensorValue):
        rank, size = len(value.sizes), len(value.data)
        head = _HEAD.pack(TENSOR, int(value.dtype), rank, size)
        return b"".join(
            [head, struct.pack(f"<{rank}i", *value.sizes), value.data, bytes(-size % 4)]
        )
    if isinstance(value, bool):
        return _HEAD.pack(BOOL, 0, 0, 8) + struct.pack("<q", value)
    if isinstance(value, int):
        return _HEAD.pack(INT, 0, 0, 8) + struct.pack("<q", value)
    if isinstance(value, float):
        return _HEAD.pack(DOUBLE, 0, 0, 8) + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode()
        return _HEAD.pack(STRING, 0, 0, len(text)) + text + bytes(-len(text) % 4)
    return _HEAD.pack(value.kind if isinstance(value, OtherValue) else NONE, 0, 0, 0)


class TornError(SdkError):
    """The values end early: the firmware was stopped while it was writing them."""

    def __init__(self) -> None:
        super().__init__("the firmware's outputs are truncated")


def from_bytes(data: bytes, at: int = 0) -> tuple[list[Value], int]:
    """The values at offset `at`, and the offset after them."""
    try:
        magic = data[at : at + 4]
        if len(magic) < len(_MAGIC):
            raise TornError
        if magic != _MAGIC:
            raise SdkError("the firmware's outputs are malformed")
        (count,) = struct.unpack_from("<I", data, at + 4)
        at += 8
        values: list[Value] = []
        for _ in range(count):
            value, at = _read(data, at)
            values.append(value)
    except struct.error as error:
        raise TornError from error
    return values, at


def _read(data: bytes, at: int) -> tuple[Value, int]:
    kind, dtype, rank, size = _HEAD.unpack_from(data, at)
    if rank > _MOST_RANK:
        raise _wrong(f"rank is {rank}, more than {_MOST_RANK}")
    at += _HEAD.size
    sizes = struct.unpack_from(f"<{rank}i", data, at)
    at += 4 * rank
    payload = data[at : at + size]
    if len(payload) != size:
        raise TornError
    after = at + size + -size % 4
    if kind == TENSOR:
        return _tensor(dtype, sizes, payload), after
    if kind in _NUMBERS and size != _NUMBER_SIZE:
        raise _wrong(f"number has {size} bytes, not {_NUMBER_SIZE}")
    if kind in (INT, BOOL):
        (number,) = struct.unpack("<q", payload)
        return bool(number) if kind == BOOL else int(number), after
    if kind == DOUBLE:
        return float(struct.unpack("<d", payload)[0]), after
    if kind == STRING:
        return payload.decode("utf-8", "replace"), after
    return (None if kind == NONE else OtherValue(kind)), after


def _tensor(dtype: int, sizes: tuple[int, ...], payload: bytes) -> TensorValue:
    if dtype not in _DTYPES:
        raise _wrong(f"dtype is {dtype}, which ExecuTorch does not have")
    known = tensors.DType(dtype)
    if min(sizes, default=0) < 0 or tensors.nbytes(known, sizes) != len(payload):
        shape = tensors.shape_text(sizes)
        raise _wrong(f"tensor {known.label}{shape} has {len(payload)} bytes")
    return TensorValue(known, sizes, payload)


def _wrong(what: str) -> SdkError:
    return SdkError(f"the firmware wrote an output whose {what}")
