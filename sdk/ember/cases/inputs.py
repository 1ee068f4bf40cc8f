"""Arguments of a user, or a case, become the inputs of a method in memory layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ember import cases, files, program
from ember.cases import values
from ember.cases.values import TensorValue, Value
from ember.errors import SdkError
from ember.files import arrays, documents, tensors
from ember.files.tensors import Array
from ember.output import counted
from ember.program import Method

Given = Array | values.Scalar


def read(words: Sequence[str]) -> list[Given]:
    """Values from the command line: .npy files, and literals for other values."""
    return [_read_word(word) for word in words]


def _read_word(word: str) -> Given:
    if not word.endswith(".npy"):
        try:
            literal = documents.parse_json(word, "the input")
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
