"""Arguments of a user, or a case, become the inputs of a method, and their bytes.

A firmware reads these bytes, and writes its outputs in the same format, which
runtime_c/app/values.h describes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ember import cases, files, program
from ember.errors import SdkError
from ember.files import arrays, tensors
from ember.files.tensors import Array
from ember.output import counted
from ember.program import Method

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


# ---- inputs of a method --------------------------------------------------------------


Given = Array | Scalar


def read(words: Sequence[str]) -> list[Given]:
    """Values from the command line: .npy files, and literals for other values."""
    return [_read_word(word) for word in words]


def _read_word(word: str) -> Given:
    if not word.endswith(".npy"):
        try:
            literal = files.parse_json(word, "the input")
        except SdkError:
            literal = word
        if literal is None or isinstance(literal, int | float):
            return literal
        raise SdkError(
            f"the input '{word}' is not a .npy file, number, true, false or null",
            hint="save arrays with numpy.save()",
        )
    return arrays.read(Path(word))


def zeros(method: Method) -> list[Value]:
    """Zeros for every tensor; scalars get the value of the export."""
    zeroed: list[Value] = []
    for value in method.input_values:
        if isinstance(value, program.Tensor):
            zeroed.append(TensorValue(value.dtype, value.sizes, bytes(value.nbytes)))
        else:
            zeroed.append(_scalar(value))
    return zeroed


def _scalar(value: program.Value) -> Value:
    if isinstance(value, program.Int | program.Bool | program.Double):
        return value.value
    return None


def lay_out(method: Method, given: Sequence[Given]) -> list[Value]:
    """The inputs in the method's memory layout; raises an SdkError if they misfit."""
    declared = method.input_values
    if len(given) != len(declared):
        raise SdkError(
            f"method {method.name} takes {counted(len(declared), 'input')}, but"
            f" {len(given)} given",
            hint=_signature(method),
        )
    return [
        _lay_out(method, index, value, argument)
        for index, (value, argument) in enumerate(zip(declared, given, strict=True))
    ]


def _lay_out(
    method: Method, index: int, declared: program.Value, given: Given
) -> Value:
    wrong = f"input {index} of method {method.name}"
    if not isinstance(declared, program.Tensor):
        if isinstance(given, np.ndarray):
            raise SdkError(f"{wrong} is not a tensor", hint=_signature(method))
        if isinstance(declared, program.Double) and isinstance(given, int):
            return float(given)
        return given
    if not isinstance(given, np.ndarray):
        given = np.asarray(given, declared.dtype.numpy)
    if given.dtype != declared.dtype.numpy:
        raise SdkError(
            f"{wrong} is {declared.dtype.label}, but the file has {given.dtype}",
            hint=f"convert it with array.astype('{declared.dtype.numpy.name}')",
        )
    if not _fits(given.shape, declared):
        shape = tensors.shape_text(given.shape)
        raise SdkError(
            f"{wrong} has shape {tensors.shape_text(declared.sizes)}"
            f"{' at most' if declared.is_dynamic else ''}, but the file {shape}",
            hint=_signature(method),
        )
    data = tensors.to_bytes(given, declared.dtype, declared.dim_order)
    return TensorValue(declared.dtype, tuple(given.shape), data)


def _fits(shape: Sequence[int], declared: program.Tensor) -> bool:
    if len(shape) != len(declared.sizes):
        return False
    if declared.is_dynamic:
        return all(a <= b for a, b in zip(shape, declared.sizes, strict=True))
    return tuple(shape) == tuple(declared.sizes)


def _signature(method: Method) -> str:
    parts = [
        str(value)
        if isinstance(value, program.Tensor)
        else type(value).__name__.lower()
        for value in method.input_values
    ]
    return f"{method.name}({', '.join(parts)})"


# ---- cases -------------------------------------------------------------------------


@dataclass(frozen=True)
class CaseRun:
    """The inputs of a case's run, and the method that takes them."""

    method: str
    given: tuple[Given, ...]
    test: int | None = None  # in a bundle: the number of the method's test case


def of_case(path: Path, method: str | None = None) -> CaseRun | None:
    """The first run of a case folder or .bpte (of `method`, if given); else None."""
    if not is_case(path):
        return None
    case = cases.read(cases.Found(path.name, path))
    for run in case.runs:
        if method in (None, run.method):
            given = tuple(_given(value) for value in run.inputs)
            return CaseRun(run.method, given, run.test)
    return None


def is_case(path: Path) -> bool:
    """Whether the model in `path` comes with inputs."""
    if path.is_dir():
        return (path / cases.CASE_FILE).is_file() or (path / cases.BUNDLE).is_file()
    return files.kind_of(files.read(path)) is files.Kind.BUNDLE


def _given(value: cases.Value) -> Given:
    if isinstance(value, cases.CaseTensor):
        return value.array
    if isinstance(value, str):
        raise SdkError(f"the input '{value}' is a string, which no method accepts")
    return value
