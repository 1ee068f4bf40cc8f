"""An operator's schema or a backend's payload, with arguments and NumPy's results,
becomes a case of one call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ember import cases, program, writing
from ember.errors import SdkError
from ember.files.tensors import Array, DType, align_up, contiguous
from ember.kernels import library
from ember.program import types

_ORDER = (0, 2, 3, 1)


@dataclass(frozen=True)
class Constant:
    """An array that is stored in the program."""

    array: Array


@dataclass(frozen=True)
class ChannelsLast:
    """(n, c, h, w), whose channels are last in memory."""

    array: Array


def write(
    folder: Path,
    op: str,
    schema: str,
    arguments: Sequence[Any],
    results: Sequence[Array | ChannelsLast | None],
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> None:
    """Write a case into `folder`: the operator `op`, called with `arguments`.

    `arguments` are those before the outputs: arrays, and those of lists, become inputs
    of the program, while constants, numbers, strings, None and lists of integers are
    stored in it. The place of a result that is None has None. Tolerances apply to
    floats.
    """
    names = library.names(schema)
    if len(names) != len(arguments) + len(results):
        raise SdkError(
            f"{op} has {len(names)} arguments with its outputs ({', '.join(names)}),"
            f" given are {len(arguments)} and {len(results)} results"
        )
    call = _Call()
    places = [call.argument(value) for value in arguments]
    inputs = dict(call.arrays)
    written = [call.argument(value) for value in results]
    outs = [
        out for out, value in zip(written, results, strict=True) if value is not None
    ]
    method = call.method(op, [*places, *written], outs, list(inputs))
    expected = [
        value.array if isinstance(value, ChannelsLast) else value
        for value in results
        if value is not None
    ]
    content = program.write(types.Program((method,), constants=tuple(call.constants)))
    _write_case(folder, content, list(inputs.values()), expected, rtol, atol)


def write_delegate(
    folder: Path,
    backend: str,
    payload: bytes,
    inputs: Sequence[Array],
    results: Sequence[Array],
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> None:
    """Write a case into `folder`: the backend with this id, started with `payload` and
    executed with `inputs`."""
    call = _Call()
    places = [call.argument(np.asarray(value)) for value in inputs]
    outs = [call.argument(np.asarray(value)) for value in results]
    method = call.delegated(types.Delegate(backend, payload), places, outs)
    content = program.write(types.Program(methods=(method,), constants=(b"",)))
    _write_case(folder, content, inputs, results, rtol, atol)


def _write_case(
    folder: Path,
    content: bytes,
    inputs: Sequence[Array],
    results: Sequence[Array],
    rtol: float,
    atol: float,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {f"in{index}.npy": value for index, value in enumerate(inputs)}
    expected = {f"out{index}.npy": value for index, value in enumerate(results)}
    for name, value in (arrays | expected).items():
        np.save(folder / name, value)
    writing.write(folder / cases.MODEL, content)
    run = {"method": "forward", "inputs": [*arrays], "outputs": [*expected]}
    facts = {"rtol": rtol, "atol": atol, "runs": [run]}
    writing.write(
        folder / cases.CASE_FILE, (json.dumps(facts, indent=1) + "\n").encode()
    )


@dataclass
class _Call:
    """Collects the values of a method; tensors are placed one after another."""

    values: list[types.Value] = field(default_factory=list)
    arrays: dict[int, Array] = field(default_factory=dict)  # by value
    constants: list[bytes] = field(default_factory=lambda: [b""])
    at: int = 0

    def argument(self, value: Any) -> int:
        if isinstance(value, np.ndarray):
            return self._tensor(value)
        if isinstance(value, ChannelsLast):
            return self._tensor(value.array, _ORDER)
        if isinstance(value, Constant):
            return self._constant(value.array)
        if isinstance(value, list | tuple):
            if value and all(isinstance(item, np.ndarray) for item in value):
                return self._add(types.TensorList(tuple(map(self._tensor, value))))
            items = tuple(self._add(types.Int(int(item))) for item in value)
            return self._add(types.IntList(items))
        kinds = {
            **{bool: types.Bool, int: types.Int, float: types.Double},
            str: types.String,
        }
        return self._add(types.Null() if value is None else kinds[type(value)](value))

    def method(
        self, op: str, places: list[int], outs: list[int], inputs: list[int]
    ) -> types.Method:
        several = len(outs) > 1
        returned = self._add(types.TensorList(tuple(outs))) if several else outs[0]
        name, _, overload = op.partition(".")
        call = types.KernelCall(0, (*places, returned))
        method = self._method(call, inputs, outs)
        return replace(method, operators=(types.Operator(name, overload),))

    def delegated(
        self, delegate: types.Delegate, inputs: list[int], outs: list[int]
    ) -> types.Method:
        call = types.DelegateCall(0, (*inputs, *outs))
        return replace(self._method(call, inputs, outs), delegates=(delegate,))

    def _method(
        self, call: types.Instruction, inputs: list[int], outs: list[int]
    ) -> types.Method:
        return types.Method(
            name="forward",
            values=tuple(self.values),
            inputs=tuple(inputs),
            outputs=tuple(outs),
            chains=(types.Chain((call,)),),
            operators=(),
            planned_sizes=(0, self.at),
        )

    def _tensor(self, array: Array, order: tuple[int, ...] | None = None) -> int:
        place = types.Allocation(1, self.at)
        self.at += align_up(max(array.nbytes, 1), types.ALIGN)
        order = order or contiguous(array.ndim)
        index = self._add(types.Tensor(_dtype(array), array.shape, order, 0, place))
        self.arrays[index] = array
        return index

    def _constant(self, array: Array) -> int:
        self.constants.append(array.tobytes())
        index = len(self.constants) - 1
        order = contiguous(array.ndim)
        return self._add(types.Tensor(_dtype(array), array.shape, order, index))

    def _add(self, value: types.Value) -> int:
        self.values.append(value)
        return len(self.values) - 1


def _dtype(array: Array) -> DType:
    dtype = DType.named(array.dtype.name)
    if dtype is None:
        raise SdkError(f"no tensor holds NumPy's {array.dtype.name}")
    return dtype
