# SPDX-License-Identifier: Apache-2.0
"""Committed calls of an operator become random ones: other shapes, dim orders, dtypes,
numbers and arguments, with the outputs that PyTorch gives.

A draw begins with a committed call, so that windows, indices and scales fit each other,
and changes some of it. What PyTorch refuses is drawn again.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import case_tables
import numpy as np
import one_call
import torch

from calls import oracle, sizes
from calls.sizes import Call
from ember import cases, kernels
from ember.cases import Case, CaseTensor
from ember.files.tensors import Array, DType, contiguous
from ember.program import types

Change = Callable[[Call], Iterator[tuple[int, types.Value]]]
TRIES = 60  # for a call that PyTorch takes
MOST_NUMBERS = 6000  # of a call's tensors together
SIZES = (0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 24, 31, 32, 33, 40, 65)
SHAPES = (
    *((), (1,), (7,), (37,), (300,), (0, 3), (3, 5), (2, 3, 5), (2, 1, 5)),
    *((2, 3, 4, 5), (1, 3, 1, 1), (3, 1), (4, 1, 2, 1, 3), (16,), (4, 17)),
)
SCALARS = (0, 1, -1, 2, 3, -3, 5, 7, 100, 200, 300, 0.5, 2.5, -1.5, 0.1, 1e4)
WORDS = {
    "reduce": ("sum", "prod", "mean", "amax", "amin"),
    "approximate": ("none", "tanh"),
    "rounding_mode": ("trunc", "floor"),
}
EDGES = (
    *(math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, -2.5),
    *(0.49999997, 8388609.0, 1e30, -1e30, 1e-30, 1e10, 3.4e38, 1e-40, 0.3, 6e4),
    *(30.0, -30.0, 200.0, -200.0, 7.5, -7.5, 3.0, -3.0, 1e-3),
)
# Of sums, which have no cancelled terms, and of what squares and divides.
SUMMED = tuple(x for x in EDGES if not 1e3 < abs(x) < math.inf)
TAME = tuple(x for x in SUMMED if abs(x) <= 200 and (x == 0 or abs(x) >= 1e-3))
# Which of equal numbers stands first is nobody's promise; nor are random numbers.
DISTINCT = ("aten::topk.values", "aten::sort.values", "aten::sort.values_stable")
# Which of NaN and infinity large numbers end up as depends on PyTorch's vectors; and
# what is more than an index may be is not checked by all of PyTorch.
_TAME = re.compile("norm|backward|cdist|pdist|grid_sampler|gelu|var|prod|upsample")
_SUMS = re.compile("mean|sum|conv|mm|linear|pool|attention|sdpa|matmul|embedding_bag")
_UNCHECKED = re.compile("backward|embedding_bag")
BOUNDED = {  # operators whose shapes depend on numbers
    *("aten::nonzero.out", "aten::masked_select.out", "aten::index.Tensor_out"),
    *("aten::repeat_interleave.Tensor_out", "aten::_unique2.out"),
}
_INDICES = ("index", "indices", "offsets", "input_pos", "pos")
_COUNTS = (
    "start",
    "end",
    "index",
    "step",
    "diagonal",
    "k",
    "n",
    "length",
    "correction",
)
_FLOATS = (DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16)
_WHOLE = tuple(DType(n) for n in (0, 1, 2, 3, 4, 27, 28, 29))
_FREE = ("elementwise",)  # families whose tensors are broadcast
_DTYPES = {oracle.torch_type(x): x for x in one_call.NAMES}


def draws(
    seeds: Sequence[Call], count: int, seed: str, refused: Counter[str]
) -> Iterator[Case]:
    """At most so many cases, the same for the same seed. `refused` counts the reasons
    of the loader, where it refuses what PyTorch takes."""
    operator = seeds[0].operator
    for turn in range(count):
        for attempt in range(TRIES):
            random.seed(f"{seed} {operator} {turn} {attempt}")
            call = drawn(random.choice(seeds), turn)
            natural = random.random() < 0.9
            if call is None:
                continue
            try:
                case = answered(replace(call, name=name_of(call, turn)), natural)
            except (oracle.RefusedError, oracle.UnknownError):
                continue
            (reason,) = one_call.refusals_of(case.content, 1)
            if reason is None:
                yield case
                break
            refused[reason] += 1


def name_of(call: Call, turn: int) -> str:
    """The operator, the dtypes of the call's inputs, and a number."""
    word = call.operator.partition("::")[2].replace(".", "_")
    inputs = (call.method.values[index] for index in call.method.inputs)
    dtypes = [one_call.NAMES[x.dtype] for x in inputs if isinstance(x, types.Tensor)]
    return "_".join([word, *dtypes, str(turn)])


def answered(call: Call, natural: bool = True) -> Case:
    """The case of a call, whose outputs get the shapes of what PyTorch computes, and
    with `natural` its dtypes."""
    outputs = oracle.results(call, natural)
    indices = oracle.Arguments(call).out_indices
    computed = dict(zip(indices, outputs, strict=True))
    shaped = sizes.changed(
        call, {i: _declared(call, i, x) for i, x in computed.items()}
    )
    if shaped is None:
        raise oracle.RefusedError("too large")
    method = shaped.method
    read = zip(method.inputs, map(_array, shaped.arrays), strict=True)
    given = [(index, oracle.array_of(computed[index])) for index in method.outputs]
    rtol, atol = oracle.tolerance(call, outputs)
    run = cases.Run(method.name, _tensors(method, read), _tensors(method, given))
    program = shaped.program
    return case_tables.of_program(call.name, program, [run], rtol=rtol, atol=atol)


def _declared(call: Call, index: int, output: torch.Tensor) -> types.Tensor:
    value = call.method.values[index]
    assert isinstance(value, types.Tensor)
    dtype = _DTYPES.get(output.dtype)
    if dtype is None:
        raise oracle.RefusedError("complex numbers")
    strided = not call.operator.startswith("cadence::")
    order = oracle.dim_order(output) if strided else contiguous(output.dim())
    bounded = "bounded" if call.operator in BOUNDED else "static"
    shape = tuple(output.shape)
    return replace(value, dtype=dtype, sizes=shape, dim_order=order, dynamism=bounded)


def _array(array: Array | None) -> Array:
    assert array is not None  # of calls of tensors
    return array


def _tensors(
    method: types.Method, pairs: Iterable[tuple[int, Array]]
) -> tuple[CaseTensor, ...]:
    values = ((method.values[index], array) for index, array in pairs)
    return tuple(
        CaseTensor(value.dtype, array)
        for value, array in values
        if isinstance(value, types.Tensor)
    )


# ---- what changes --------------------------------------------------------------------


def drawn(call: Call, turn: int) -> Call | None:
    """The call with some of its arguments changed; None: it is too large. Turns go
    through the operator's dtypes, and through kinds of numbers."""
    changes: dict[Change, float] = {
        _shapes: 0.8,
        partial(_dtypes, turn=turn): 0.9,
        _orders: 0.4,
        _arguments: random.random(),
    }
    for change, chance in changes.items():
        if random.random() < chance:
            changed = sizes.changed(call, dict(change(call)))
            if changed is None:
                return None
            if sum(value.numel for _, value in changed.method.tensors) > MOST_NUMBERS:
                return None
            call = changed
    return filled(call, turn)


def _named(call: Call) -> Iterator[tuple[str, str, int, types.Value]]:
    """Type, name, index and value of each argument."""
    (instruction,) = call.method.instructions
    assert isinstance(instruction, types.KernelCall)
    fields = one_call.fields(call.operator)
    for (kind, name), index in zip(fields, instruction.args, strict=False):
        yield kind, name, index, call.method.values[index]


def _shapes(call: Call) -> Iterator[tuple[int, types.Value]]:
    """Equal sizes stay equal; tensors that are broadcast get any shapes."""
    inputs = [*call.method.inputs]
    tensors = dict(call.method.tensors)
    free = kernels.load().operators[call.operator].sources[-1].parent.name in _FREE
    if free and random.random() < 0.7:
        whole = random.choice(SHAPES)
        for index in inputs:
            if index in tensors:
                yield index, _shaped(tensors[index], _part(whole))
        return
    kept = random.random()
    drawn = {
        n: n if random.random() < kept else random.choice(SIZES) for n in call.sizes
    }
    other = sizes.resized(call, drawn)
    if other is not None:
        yield from enumerate(other.method.values)


def _part(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, or one that is broadcast to it."""
    if random.random() < 0.5:
        return shape
    cut = shape[random.randint(0, len(shape)) :]
    return tuple(1 if random.random() < 0.3 else size for size in cut)


def _shaped(value: types.Tensor, shape: tuple[int, ...]) -> types.Tensor:
    return replace(value, sizes=shape, dim_order=contiguous(len(shape)))


def _dtypes(call: Call, turn: int) -> Iterator[tuple[int, types.Value]]:
    """Those of the operator: the same for tensors of the same, mostly."""
    known = kernels.load().operators[call.operator].dtypes
    allowed = [DType(one_call.DTYPES[str(x)]) for x in known]
    mapped: dict[DType, DType] = {}
    mixed = random.random() < 0.2
    main = allowed[turn % len(allowed)] if allowed else None
    for index, value in call.method.tensors:
        if value.dtype not in allowed or (
            _is_index(call, index) and value.dtype in _WHOLE
        ):
            continue
        new = random.choice(allowed) if mixed or mapped or main is None else main
        dtype = new if mixed else mapped.setdefault(value.dtype, new)
        yield index, replace(value, dtype=dtype)
    for kind, _, index, argument in _named(call):
        if "ScalarType" in kind and isinstance(argument, types.Int):
            new_type = mapped.get(DType(argument.value))
            if new_type is not None:
                yield index, types.Int(int(new_type))


def _is_index(call: Call, index: int) -> bool:
    return any(
        name in _INDICES
        for _, name, at, value in _named(call)
        if at == index
        or (isinstance(value, types.OptionalTensorList) and index in value.items)
    )


def _orders(call: Call) -> Iterator[tuple[int, types.Value]]:
    """Mostly channels last, for all of a rank."""
    if call.operator.startswith("cadence::"):
        return
    any_order = random.random() < 0.2
    for index, value in call.method.tensors:
        rank = len(value.sizes)
        order = [0, *range(2, rank), 1] if rank > 2 else [*range(rank)]
        if any_order:
            random.shuffle(order)
        if index in call.method.inputs and random.random() < 0.8:
            yield index, replace(value, dim_order=tuple(order))


def _arguments(call: Call) -> Iterator[tuple[int, types.Value]]:
    """Numbers and words by their names."""
    ranks = [len(value.sizes) for _, value in call.method.tensors] or [0]
    chance = random.random()
    for kind, name, index, value in _named(call):
        if random.random() > chance or isinstance(value, types.Tensor):
            continue
        if isinstance(value, types.IntList):
            for item in value.items:
                yield item, types.Int(_length(name, call.method.values[item], ranks[0]))
        elif (new := _argument(kind, name, value, call, ranks[0])) is not None:
            yield index, new


def _length(name: str, value: types.Value, rank: int) -> int:
    assert isinstance(value, types.Int)
    if name in ("dim", "dims", "perm"):
        return random.randint(-rank, max(rank - 1, 0))
    if name in ("padding", "pad", "output_padding", "shifts", "pre_pad", "post_pad"):
        return random.choice((0, 0, 1, 1, 2, 3, -1, value.value))
    if name in ("stride", "dilation", "kernel_size", "kernel"):
        return random.choice((1, 1, 2, 3, value.value))
    return value.value


def _argument(  # noqa: PLR0911 - a case each
    kind: str, name: str, value: types.Value, call: Call, rank: int
) -> types.Value | None:
    match value:
        case types.Bool():
            return types.Bool(random.random() < 0.5)
        case types.String() if name in WORDS:
            return types.String(random.choice(WORDS[name]))
        case types.Int() | types.Double() if re.match("Scalar(?!Type)", kind):
            number = random.choice(SCALARS)
            if isinstance(number, int):
                return types.Int(number)
            return types.Double(number)
        case types.Double() if "scale" in name or name == "eps":
            return types.Double(value.value * 10 ** random.uniform(-1.5, 1.5))
        case types.Double():
            return types.Double(random.choice((value.value, 0.0, 0.5, 1.0, 2.5)))
        case types.Int():
            return _integer(kind, name, value.value, call, rank)
        case types.Null() if kind.startswith("Scalar?"):
            return types.Double(random.choice((0.5, 2.0)))
    return None


def _integer(  # noqa: PLR0911 - a name each
    kind: str, name: str, old: int, call: Call, rank: int
) -> types.Value | None:
    if "ScalarType" in kind or "MemoryFormat" in kind:
        return None
    if name.startswith(("dim", "axis", "channel")):
        return types.Int(random.randint(-rank, max(rank - 1, 0)))
    if "zero_point" in name or "offset" in name:
        return types.Int(_within(call))
    if "multiplier" in name:
        many = [random.randint(1 << 30, 2**31 - 1)] * 8
        return types.Int(random.choice((0, 1, 2**31 - 1, *many)))
    if "shift" in name:
        return types.Int(old + random.randint(-2, 2))
    if name.startswith("activation"):
        return types.Int(random.choice((-128, 127, 0, old, old)))
    if name in _COUNTS:
        return types.Int(random.randint(-4, 6))
    return None


def _within(call: Call) -> int:
    """A number of the dtype of the first integers, often at an end."""
    for _, value in call.method.tensors:
        if value.dtype in _WHOLE and value.dtype.itemsize <= 2:
            ends = np.iinfo(value.dtype.numpy)
            low, high = int(ends.min), int(ends.max)
            return random.choice((low, high, max(low, 0), random.randint(low, high)))
    return 0


# ---- numbers -------------------------------------------------------------------------


def filled(call: Call, turn: int = 0) -> Call:
    """The call with other numbers."""
    kept = random.random() < 0.05
    values = [call.method.values[index] for index in call.method.inputs]
    seeded = np.random.default_rng(random.getrandbits(32))
    triples = zip(call.method.inputs, values, call.arrays, strict=True)
    arrays = [
        array if kept else _numbers(call, index, value, array, seeded, turn)
        for index, value, array in triples
    ]
    constants = list(call.program.constants)
    for index, value in call.method.tensors:
        if value.is_constant and random.random() < 0.8:
            data = bytes(constants[value.data_index])
            stored = np.frombuffer(data, value.dtype.numpy)
            new = _numbers(call, index, value, stored, seeded, turn)
            constants[value.data_index] = np.ascontiguousarray(new).tobytes()
    other = replace(call.program, constants=tuple(constants))
    return replace(call, program=other, arrays=tuple(arrays))


def _numbers(  # noqa: PLR0911 - a dtype each
    call: Call,
    index: int,
    value: types.Value,
    array: Array | None,
    seeded: np.random.Generator,
    turn: int,
) -> Array | None:
    if array is None or not isinstance(value, types.Tensor) or not array.size:
        return array
    if call.operator in DISTINCT and value.dtype.itemsize < 8:
        spread = (seeded.permutation(array.size) % 127).reshape(array.shape)
        return _cast(spread.astype(np.float64), value.dtype)
    if _is_index(call, index) and value.dtype in _WHOLE:
        if random.random() < 0.4 or _UNCHECKED.search(call.operator):
            return array
        low = -1 if random.random() < 0.2 else 0
        drawn = seeded.integers(low, random.choice((1, 2, 3, 5)), array.shape)
        return drawn.astype(array.dtype)
    if value.dtype is DType.BOOL:
        return seeded.integers(0, 2, array.shape).astype(array.dtype)
    if value.dtype in _FLOATS:
        name = call.operator
        edges = TAME if _TAME.search(name) else SUMMED if _SUMS.search(name) else EDGES
        return _cast(_floats(array.shape, edges, seeded, turn), value.dtype)
    return _wholes(array, value, seeded, turn)


def _floats(
    shape: tuple[int, ...],
    edges: Sequence[float],
    seeded: np.random.Generator,
    turn: int,
) -> Array:
    plain = seeded.normal(size=shape)
    match turn % 7:
        case 0:
            powers = 10 if edges == EDGES else 2
            return plain * np.exp2(seeded.normal(size=shape) * powers)
        case 1:
            return seeded.choice(np.array(edges), shape)
        case 2:  # a few edges among numbers
            few = seeded.choice(np.array(edges), shape)
            return np.where(seeded.random(shape) < 0.2, few, plain)
        case 3:  # halves and ties
            return seeded.integers(-8, 9, shape) / 2
        case 4:
            return seeded.random(shape) + 0.1
    return plain


def _wholes(
    array: Array, value: types.Tensor, seeded: np.random.Generator, turn: int
) -> Array:
    ends = np.iinfo(array.dtype)
    if value.is_constant and array.dtype == np.int32:  # multipliers, shifts, biases
        wide = seeded.integers(1 << 30, 2**31 - 1, array.shape)
        near = array + seeded.integers(-2, 3, array.shape)
        bias = seeded.integers(-9000, 9000, array.shape)
        size = np.abs(array.astype(np.int64))
        new = np.where(size >= 1 << 29, wide, np.where(size <= 31, near, bias))
        return new.astype(array.dtype)
    match turn % 5:
        case 0:
            both = np.array([ends.min, ends.max], array.dtype)
            return seeded.choice(both, array.shape)
        case 1:
            few = (ends.min, ends.max, 0, 1, 2, 3, 5, 7, ends.min + 1, ends.max - 1)
            return seeded.choice(np.array(few, array.dtype), array.shape)
        case 2:
            low = max(ends.min, -7)
            return seeded.integers(low, 8, array.shape).astype(array.dtype)
        case 3:
            return seeded.integers(0, 5, array.shape).astype(array.dtype)
    return seeded.integers(ends.min, ends.max, array.shape, array.dtype, endpoint=True)


def _cast(numbers: Array, dtype: DType) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype is DType.BFLOAT16:
            short = torch.from_numpy(np.array(numbers)).to(torch.bfloat16)
            return oracle.array_of(short)
        cast: Array = np.asarray(numbers).astype(dtype.numpy)
        return cast
