# SPDX-License-Identifier: Apache-2.0
"""Committed programs of one call become others, whose sizes are different.

Equal sizes stay equal, and an integer of a list that names a size names the new one, so
that kernels take many of them; loaders refuse the rest. Constants keep their numbers,
repeated or cut; so do inputs, unless they are drawn.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import case_tables
import numpy as np

from calls import graphs
from ember import cases
from ember.cases import CaseTensor
from ember.files.tensors import Array, DType
from ember.program import Method, Program, types

SIZES = (0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 33, 40, 64, 100)
NUMBERS = (-1, 0, 1, 2, 3, 7, 1000)
MOST_BYTES = 400_000
LONG, SHORT, ODD = 120, 3, 17
FEW = 16  # as many as kernels compute without scratch or vectors, at most
_ALIGN = 16

Sizes = Mapping[int, int]  # old -> new
Draw = Callable[["types.Value", "Array | None"], "Array | None"]


@dataclass(frozen=True)
class Call:
    """A program of one call, and what its first run reads, by input."""

    name: str
    program: Program
    arrays: tuple[Array | None, ...]

    @property
    def method(self) -> Method:
        return self.program.methods[0]

    @property
    def operator(self) -> str:
        """Of a delegate's call "delegate"."""
        (called,) = self.method.instructions
        if isinstance(called, types.KernelCall):
            return self.method.operators[called.op_index].full_name
        return "delegate"

    @property
    def sizes(self) -> list[int]:
        """The distinct sizes of its tensors, and of what its delegate makes."""
        shapes = [set(tensor.sizes) for _, tensor in self.method.tensors]
        return sorted(set().union(*shapes, *map(graphs.sizes, self.method.delegates)))


def committed(folders: Sequence[Path]) -> Iterator[Call]:
    for location in cases.find(folders):
        case = cases.read(location)
        methods = case.program.methods
        calls = [each for method in methods for each in method.instructions]
        if len(methods) != 1 or len(calls) != 1 or case.data:
            continue
        is_graph = isinstance(calls[0], types.DelegateCall) and all(
            graphs.is_one(delegate) for delegate in methods[0].delegates
        )
        if isinstance(calls[0], types.KernelCall) or is_graph:
            yield Call(location.name.replace("/", "_"), case.program, _arrays(case))


def _arrays(case: cases.Case) -> tuple[Array | None, ...]:
    inputs = case.runs[0].inputs if case.runs else ()
    arrays = [
        value.array if isinstance(value, CaseTensor) else None for value in inputs
    ]
    return (*arrays, *[None] * (len(case.program.methods[0].inputs) - len(arrays)))


# ---- which sizes ---------------------------------------------------------------------


def extremes(call: Call) -> Iterator[Call]:
    """What set-up, lines and tails cost.

    Sizes are all none, one, a few, or odd; each of them is long, beside ones, twos or
    the others, or one. Lines have large numbers in no order, too; the call as it is,
    and with a few, has these, small ones, and large ones beside tiny ones: sorting,
    remainders and software for floats take more for them.
    """
    sizes = call.sizes
    ones = dict.fromkeys(sizes, 1)
    lines: list[Sizes] = [{**ones, size: LONG} for size in sizes]
    drawn: list[Sizes] = [dict.fromkeys(sizes, n) for n in (1, SHORT, ODD, FEW, 0)]
    drawn += [*lines, *({**dict.fromkeys(sizes, 2), size: LONG} for size in sizes)]
    drawn += [{size: new} for size in sizes for new in (LONG, 1)]
    kept: list[tuple[Sizes, Draw | None]] = [(each, None) for each in drawn]
    kept += [(each, _apart) for each in lines]
    for draws in (_apart, _near, _wide, _far):
        kept += [({}, draws), (dict.fromkeys(sizes, FEW), draws)]
    seen = set()
    for number, (drawn_sizes, draw) in enumerate(kept):
        key = draw, *(drawn_sizes.get(size, size) for size in sizes)
        if key not in seen and (extreme := resized(call, drawn_sizes)) is not None:
            random.seed(f"{call.name} {number}")
            extreme = extreme if draw is None else with_numbers(extreme, draw)
            yield replace(extreme, name=f"{call.name}_{number}")
        seen.add(key)


def distinct(calls: Iterable[Call], most: int = 2) -> Iterator[Call]:
    """At most so many of a kind: of an operator, with types and ranks of arguments."""
    seen: Counter[object] = Counter()
    for call in calls:
        seen[kind := _kind(call.method)] += 1
        if seen[kind] <= most:
            yield call


def _kind(method: Method) -> object:
    (called,) = method.instructions
    if isinstance(called, types.DelegateCall):
        return method.delegates[called.delegate_index]
    assert isinstance(called, types.KernelCall)
    arguments = (method.values[index] for index in called.args)
    name = method.operators[called.op_index].full_name
    return name, tuple(_kind_of(value) for value in arguments)


def _kind_of(value: types.Value) -> object:
    if isinstance(value, types.Tensor):
        return value.dtype, len(value.sizes), value.dim_order, value.is_constant
    return value if isinstance(value, types.Bool | types.String) else type(value)


def other(call: Call) -> Call | None:
    """Random sizes and numbers, also of some integers; None: it is too large."""
    kept = random.random()
    drawn = {
        size: size if random.random() < kept else random.choice(SIZES)
        for size in call.sizes
    }
    larger = resized(call, drawn, numbers=0.1)
    if larger is None or random.random() < 0.5:
        return larger
    return with_numbers(larger, _numbers)


def with_numbers(call: Call, draw: Draw) -> Call:
    """The call with other inputs."""
    values = [call.method.values[index] for index in call.method.inputs]
    pairs = zip(values, call.arrays, strict=True)
    return replace(call, arrays=tuple(draw(*pair) for pair in pairs))


def _apart(value: types.Value, array: Array | None) -> Array | None:
    if array is None or not isinstance(value, types.Tensor) or array.dtype.kind == "b":
        return array
    seeded = np.random.default_rng(random.getrandbits(32))
    if array.dtype.kind == "f":
        return seeded.uniform(-6e4, 6e4, array.shape).astype(array.dtype)
    order = seeded.permutation(array.size) % 128
    return order.reshape(array.shape).astype(array.dtype)


def _spread(_: types.Value, array: Array | None, *, powers: int) -> Array | None:
    """Floats from about 2^-powers to 2^powers."""
    if array is None or array.dtype.kind != "f":
        return array
    seeded = np.random.default_rng(random.getrandbits(32))
    scale = np.exp2(seeded.uniform(-powers, powers, array.shape))
    return (seeded.normal(size=array.shape) * scale).astype(array.dtype)


_near = partial(_spread, powers=0)  # one, where series have their terms
_wide = partial(_spread, powers=8)


def _far(value: types.Value, array: Array | None) -> Array | None:
    """Floats of which each operand has large ones or tiny ones; other numbers stay."""
    if array is None or array.dtype.kind != "f":
        return array
    least = float(np.finfo(array.dtype).tiny)
    large = random.random() < 0.5
    return np.full(array.shape, 5.9e4 if large else least * 1.37, array.dtype)


def _numbers(value: types.Value, array: Array | None) -> Array | None:
    """Others of any magnitude: but few for what may be an index."""
    if array is None or not isinstance(value, types.Tensor):
        return array
    shape, dtype, kind = array.shape, array.dtype, array.dtype.kind
    seeded = np.random.default_rng(random.getrandbits(32))
    if kind == "f":
        spread = random.choice((0, 1, 30))
        drawn = seeded.normal(size=shape) * np.exp2(seeded.normal(size=shape) * spread)
        return np.clip(drawn, -6e4, 6e4).astype(dtype)
    if kind == "b":
        return seeded.integers(0, 2, shape).astype(dtype)
    if value.dtype is DType.BFLOAT16:  # uint16
        return seeded.integers(0, 2**15, shape).astype(dtype)
    limits = np.iinfo(dtype)
    if dtype.itemsize > 2 and random.random() < 0.7:
        return seeded.integers(0, random.choice((1, 2, 4)), shape).astype(dtype)
    return seeded.integers(limits.min, limits.max, shape, dtype, endpoint=True)


# ---- other sizes ---------------------------------------------------------------------


def resized(call: Call, drawn: Sizes, numbers: float = 0.0) -> Call | None:
    """The call with other sizes, and with some other integers by that chance."""
    changes: dict[int, types.Value] = {}
    listed = {
        item
        for value in call.method.values
        if isinstance(value, types.IntList)
        for item in value.items
    }
    for index, value in enumerate(call.method.values):
        if isinstance(value, types.Tensor):
            shape = tuple(drawn.get(size, size) for size in value.sizes)
            new = replace(value, sizes=shape, dynamism="static")
            if new.nbytes > MOST_BYTES:
                return None
            changes[index] = new
        elif isinstance(value, types.Int) and index in listed:
            changes[index] = types.Int(drawn.get(value.value, value.value))
        elif isinstance(value, types.Int) and random.random() < numbers:
            changes[index] = types.Int(random.choice(NUMBERS))
    delegates = tuple(
        graphs.resized(delegate, drawn) for delegate in call.method.delegates
    )
    return changed(call, changes, delegates)


def changed(
    call: Call,
    changes: Mapping[int, types.Value],
    delegates: Sequence[types.Delegate] | None = None,
) -> Call | None:
    """The call with some other values; None: its tensors are too large."""
    method = call.method
    values = [changes.get(index, old) for index, old in enumerate(method.values)]
    constants: list[bytes] = [b""]
    end = 0
    for index, value in enumerate(values):
        if not isinstance(value, types.Tensor):
            continue
        place = types.Allocation(1, end)
        tensor = replace(value, data_index=0, allocation=place, extra=None)
        if value.is_constant:
            old = call.program.constants[value.data_index]
            data = _repeated(np.frombuffer(old, np.uint8), tensor.nbytes)
            tensor = replace(tensor, allocation=None, data_index=len(constants))
            constants.append(data.tobytes())
        else:
            end += -(-tensor.nbytes // _ALIGN) * _ALIGN
        values[index] = tensor
    if end > MOST_BYTES:
        return None
    other = replace(
        method,
        values=tuple(values),
        delegates=method.delegates if delegates is None else tuple(delegates),
        planned_sizes=(0, max(end, _ALIGN)),
    )
    pairs = zip(other.inputs, call.arrays, strict=True)
    arrays = tuple(_reshaped(values[index], array) for index, array in pairs)
    whole = replace(call.program, methods=(other,), constants=tuple(constants))
    return Call(call.name, whole, arrays)


def _reshaped(value: types.Value, array: Array | None) -> Array | None:
    if not isinstance(value, types.Tensor):
        return None
    if array is None:
        return np.zeros(value.sizes, value.dtype.numpy)
    flat = _repeated(array.reshape(-1), value.numel)
    with np.errstate(invalid="ignore"):
        return flat.reshape(value.sizes).astype(value.dtype.numpy)


def _repeated(array: Array, count: int) -> Array:
    return np.resize(array if array.size else np.zeros(1, array.dtype), count)


# ---- files ---------------------------------------------------------------------------


def write(folder: Path, call: Call) -> None:
    """The call as a case without expected outputs."""
    values = (call.method.values[index] for index in call.method.inputs)
    inputs = tuple(
        CaseTensor(value.dtype, array)
        if array is not None and isinstance(value, types.Tensor)
        else getattr(value, "value", None)
        for value, array in zip(values, call.arrays, strict=True)
    )
    run = cases.Run(call.method.name, inputs, ())
    case_tables.folder_of(
        case_tables.of_program(call.name, call.program, [run]), folder
    )
