"""LSTM, GRU and SVDF in integers, called once each; running this file writes the
cases again. What is expected is computed number by number; all of it is exact."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ember.cases import one_call
from ember.cases.one_call import Constant
from ember.files.tensors import Array

Shape: TypeAlias = tuple[int, ...]
State: TypeAlias = list[int]
# Weights and times; factors and biases of both sums; shifts.
Svdf: TypeAlias = tuple[Array, Array, list[Array], tuple[int, int]]

HERE = Path()
WEIGHTS = "Tensor weights_x, Tensor weights_h, Tensor scales, int shift_x, int shift_h"
RESULT = "int multiplier, int shift, int zero_point, bool batch_first, bool is_reverse"
LSTM = (
    f"(Tensor x, Tensor? h, Tensor? c, {WEIGHTS}, int cell_bits, {RESULT}, *,"
    " Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2)"
    " -> (Tensor(a!), Tensor(b!), Tensor(c!))"
)
GRU = (
    f"(Tensor x, Tensor? h, {WEIGHTS}, {RESULT}, *, Tensor(a!) out0, Tensor(b!) out1)"
    " -> (Tensor(a!), Tensor(b!))"
)
SVDF = (
    "(Tensor x, Tensor held, Tensor weights, Tensor times, Tensor scales, int shift,"
    " int shift_y, int rank, *, Tensor(a!) out0, Tensor(b!) out1)"
    " -> (Tensor(a!), Tensor(b!))"
)
TABLE = [min(32767, round(32768 / (1 + math.exp(-at / 16)))) for at in range(-256, 257)]
random = np.random.default_rng(6)


def rounded(x: int, bits: int) -> int:
    return (x + (1 << bits >> 1)) >> bits


def limited(x: int, bits: int = 16) -> int:
    most = (1 << (bits - 1)) - 1
    return max(-most - 1, min(most, x))


def sigmoid(x: int) -> int:
    at, share = (x >> 7) + 256, x % 128
    return TABLE[at] + rounded((TABLE[at + 1] - TABLE[at]) * share, 7)


def tanh(twice: int) -> int:
    return 2 * sigmoid(twice) - 32768


def product(a: int, b: int) -> int:
    return rounded(a * b, 15)


def gate(*terms: int) -> int:
    total = sum(terms) & 0xFFFFFFFF
    return limited((total ^ 0x80000000) - 0x80000000 >> 4)


@dataclass(frozen=True)
class Layer:
    weights_x: Array
    weights_h: Array
    scales: Array
    shift_x: int
    shift_h: int
    multiplier: int
    shift: int
    zero_point: int

    def products(self, x: Array | State, of_h: bool) -> list[int]:
        """Of all rows, in the unit of sums."""
        weights = self.weights_h if of_h else self.weights_x
        rows, left = len(weights), self.shift_h if of_h else self.shift_x
        by = self.scales[rows if of_h else 0 :][:rows]
        sums = weights.astype(np.int64) @ np.array(x, np.int64)
        pairs = zip(sums, by, strict=True)
        return [(int(s) * 2**left * int(m) + (1 << 31)) >> 32 for s, m in pairs]

    def bias(self) -> list[int]:
        return [int(x) for x in self.scales[2 * len(self.weights_x) :]]

    def result(self, x: int) -> int:
        scaled = rounded(product(x, self.multiplier), self.shift)
        return limited(scaled + self.zero_point, 8)

    def arguments(self) -> list[Constant | int]:
        held = map(Constant, (self.weights_x, self.weights_h, self.scales))
        return [*held, self.shift_x, self.shift_h]


def lstm_step(layer: Layer, x: Array, h: State, c: State, cell_bits: int) -> State:
    size = len(h)
    both = zip(
        layer.products(x, False), layer.products(h, True), layer.bias(), strict=True
    )
    gates = [gate(*terms) for terms in both]
    for j in range(size):
        i, f, g, o = gates[j::size]
        fresh = rounded(product(sigmoid(i), tanh(g)), 15 - cell_bits)
        c[j] = limited(product(sigmoid(f), c[j]) + fresh)
        left = 12 - cell_bits
        twice = limited(c[j] << left if left >= 0 else rounded(c[j], -left))
        h[j] = layer.result(product(sigmoid(o), tanh(twice)))
    return list(h)


def gru_step(layer: Layer, x: Array, h: State) -> State:
    size, bias = len(h), layer.bias()
    of_x = layer.products(x, False)
    of_h = layer.products([layer.result(value) for value in h], True)
    for j in range(size):
        k, n = j + size, j + 2 * size
        r = sigmoid(gate(of_x[j], of_h[j], bias[j]))
        z = sigmoid(gate(of_x[k], of_h[k], bias[k]))
        candidate, other = gate(of_x[n], bias[n]), gate(of_h[n], bias[n + size])
        new = tanh(limited(candidate + product(r, other)))
        h[j] = limited(product(z, h[j]) + new - product(z, new))
    return [layer.result(value) for value in h]


def drawn(gates: int, inputs: int, size: int, *, any_scale: bool, biases: int) -> Layer:
    """A layer whose gates are mostly within -8 and 8, or any numbers."""
    weights_x, weights_h = (
        random.integers(-127, 128, (gates * size, inner)).astype(np.int8)
        for inner in (inputs, size)
    )
    count = gates * size
    if any_scale:
        scales = random.integers(-(2**31), 2**31, 2 * count + biases * size)
    else:
        parts = [2.0**15 / (5000 * math.sqrt(inner)) for inner in (inputs, size)]
        by = [random.uniform(0.3, 1, count) * part * 2**29 for part in parts]
        scales = np.concatenate(
            [*by, random.integers(-60000, 60000, biases * size)]
        ).astype(np.int64)
    shift = 31 - 14 - math.ceil(math.log2(max(inputs, size) + 1))
    left = shift if any_scale else 3
    return Layer(
        weights_x, weights_h, scales.astype(np.int32), left, left, 20000, 6, -7
    )


def computed(
    x: Array,
    size: int,
    states: list[Array],
    step: Callable[[Array, list[State]], State],
    batch_first: bool,
    is_reverse: bool,
) -> tuple[Array, list[Array]]:
    """y and the last states, as arrays of int64."""
    steps = x[None] if x.ndim == 2 else np.swapaxes(x, 0, 1) if batch_first else x
    y = np.zeros((*steps.shape[:2], size), np.int64)
    for n in range(steps.shape[1]):
        held = [[int(value) for value in state[n]] for state in states]
        order = range(len(steps))
        for at in reversed(order) if is_reverse and x.ndim == 3 else order:
            y[at, n] = step(steps[at, n], held)
        for state, values in zip(states, held, strict=True):
            state[n] = values
    return (y[0] if x.ndim == 2 else np.swapaxes(y, 0, 1) if batch_first else y), states


def case(
    kind: str,
    name: str,
    shape: Shape,
    size: int,
    *,
    given: bool = True,
    cell_bits: int = 12,
    result: tuple[int, int, int] | None = None,
    **options: bool,
) -> None:
    batch_first = options.get("batch_first", False)
    is_reverse = options.get("is_reverse", False)
    any_scale = options.get("any_scale", False)
    x = random.integers(-128, 128, shape).astype(np.int8)
    is_lstm = kind == "lstm"
    gates, biases = (4, 4) if is_lstm else (3, 4)
    layer = drawn(gates, shape[-1], size, any_scale=any_scale, biases=biases)
    if result is not None:
        multiplier, shift, zero_point = result
        layer = replace(
            layer, multiplier=multiplier, shift=shift, zero_point=zero_point
        )
    count = shape[0] if len(shape) == 2 or batch_first else shape[1]
    types: list[type[np.signedinteger[Any]]] = [np.int16]
    if is_lstm:
        types = [np.int8, np.int16]
    starts = [
        random.integers(np.iinfo(t).min, np.iinfo(t).max + 1, (count, size)).astype(t)
        for t in types
    ]
    zeros = [layer.zero_point if t is np.int8 else 0 for t in types]
    states = [
        (start if given else np.full_like(start, zero)).astype(np.int64)
        for start, zero in zip(starts, zeros, strict=True)
    ]

    def step(x: Array, held: list[State]) -> State:
        if is_lstm:
            h, c = held
            return lstm_step(layer, x, h, c, cell_bits)
        (h,) = held
        return gru_step(layer, x, h)

    y, last = computed(x, size, states, step, batch_first, is_reverse)
    bits = [cell_bits] if is_lstm else []
    ends = [layer.multiplier, layer.shift, layer.zero_point, batch_first, is_reverse]
    arguments = [x, *(starts if given else [None] * len(types)), *layer.arguments()]
    outputs = [y.astype(np.int8)]
    outputs += [s.astype(t) for s, t in zip(last, types, strict=True)]
    one_call.write(
        HERE / f"{kind}_{name}",
        f"ember::quantized_{kind}.out",
        LSTM if is_lstm else GRU,
        [*arguments, *bits, *ends],
        outputs,
    )


def svdf_step(layer: Svdf, x: Array, held: list[State], rank: int) -> list[int]:
    """y; each filter of `held` drops its oldest number."""
    weights, times, (by, bias, by_y, bias_y), shifts = layer
    y = []
    for f, row in enumerate(weights.astype(np.int64)):
        moved = int(row @ x) * 2 ** shifts[0] * int(by[f]) + (1 << 31) >> 32
        held[f] = [*held[f][1:], gate(moved, int(bias[f]))]
    for u in range(len(weights) // rank):
        filters = range(u * rank, (u + 1) * rank)
        total = sum(
            a * int(b) for f in filters for a, b in zip(held[f], times[f], strict=True)
        )
        moved = rounded(total, 15) * 2 ** shifts[1] * int(by_y[u]) + (1 << 31) >> 32
        y.append(max(-128, min(127, gate(moved, int(bias_y[u])))))
    return y


def svdf(name: str, shape: Shape, units: int, memory: int, rank: int = 1) -> None:
    filters, inputs = units * rank, shape[-1]
    x = random.integers(-128, 128, shape).astype(np.int8)
    starts = random.integers(-32768, 32768, (shape[0], filters, memory)).astype(
        np.int16
    )
    weights = random.integers(-127, 128, (filters, inputs)).astype(np.int8)
    times = random.integers(-32768, 32768, (filters, memory)).astype(np.int16)
    loud = 2.0**30 / math.sqrt(inputs)
    quiet = 2.0**27 / math.sqrt(rank * memory)
    numbers: Sequence[Array] = [
        random.uniform(0.3, 1, filters) * loud,
        random.integers(-3000, 3000, filters),
        random.uniform(0.3, 1, units) * quiet,
        random.integers(-400, 400, units),
    ]
    parts = [part.astype(np.int32) for part in numbers]
    held = [[[int(v) for v in row] for row in sequence] for sequence in starts]
    steps = x[:, None] if x.ndim == 2 else x
    layer = (weights, times, parts, (8, 2))
    y = np.array(
        [[svdf_step(layer, v, held[n], rank) for v in steps[n]] for n in range(len(x))]
    ).reshape(*shape[:-1], units)
    one_call.write(
        HERE / f"svdf_{name}",
        "ember::quantized_svdf.out",
        SVDF,
        [
            *(x, starts, Constant(weights), Constant(times)),
            *(Constant(np.concatenate(parts)), 8, 2, rank),
        ],
        [y.astype(np.int8), np.array(held).reshape(starts.shape).astype(np.int16)],
    )


for kind in ("lstm", "gru"):
    case(kind, "one", (1, 1, 1), 1)
    case(kind, "small", (3, 1, 5), 3)
    case(kind, "seven", (2, 3, 17), 7)
    case(kind, "eight", (2, 1, 4), 8)
    case(kind, "nine", (3, 1, 16), 9, given=False)
    case(kind, "sixteen", (4, 1, 33), 16, given=False)
    case(kind, "twenty", (2, 2, 6), 20)
    case(kind, "wide", (2, 1, 131), 11)
    case(kind, "batch_first", (3, 4, 6), 5, batch_first=True)
    case(kind, "reverse", (4, 2, 6), 5, is_reverse=True)
    case(kind, "reverse_batch_first", (2, 4, 3), 6, batch_first=True, is_reverse=True)
    case(kind, "step", (3, 10), 12)
    case(kind, "step_reverse", (2, 5), 4, batch_first=True, is_reverse=True)
    case(kind, "no_steps", (0, 2, 4), 5)
    case(kind, "no_rows", (3, 0, 4), 5)
    case(kind, "any", (4, 1, 12), 13, any_scale=True)
    case(kind, "loud", (4, 1, 12), 13, any_scale=True, result=(32767, 0, 127))
    case(kind, "quiet", (4, 1, 12), 10, result=(16384, 15, -128))
for bits in (0, 6, 13, 15):
    case("lstm", f"cell_{bits}", (5, 1, 8), 10, cell_bits=bits)
svdf("one", (1, 1), 1, 1)
svdf("small", (1, 5), 3, 4)
svdf("rank", (2, 17), 5, 9, rank=2)
svdf("three", (1, 3, 8), 4, 7, rank=3)
svdf("steps", (2, 4, 6), 9, 2)
svdf("no_steps", (2, 0, 6), 3, 4)
svdf("long", (1, 33), 4, 61)
