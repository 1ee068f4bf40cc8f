"""The operators ember::quantized_lstm and quantized_gru, as PyTorch computes them, in
integers alone, so that boards give the same bits.

ember::quantized_lstm(x, h, c, ..)  -> y, last h, last c
ember::quantized_gru(x, h, ..)      -> y, last h

    x    (steps, n, inputs) int8, or (n, steps, inputs) with batch_first; (n, inputs):
         one step
    h    (n, size): of LSTM int8, scaled as y; of GRU int16 with 15 fraction bits. None:
         zeros
    c    (n, size) int16 with cell_bits fraction bits. None: zeros
    y    as x, with `size` last: int8

Weights are int8, each row with a scale of its own. `scales`, int32, are the multipliers
of products with x, those with h, and biases, which have the zero points in them. Rows
are those of PyTorch: i, f, g, o of LSTM, r, z, n of GRU, whose biases are r, z, n of x,
n of h. kernels/recurrent/recurrent.h has the formulas.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ember.export.int16.operators import quantized_table_int16
from ember.export.packages import need

_STEP = "Tensor weights_x, Tensor weights_h, Tensor scales, int shift_x, int shift_h"
_RESULT = "int multiplier, int shift, int zero_point, bool batch_first, bool is_reverse"
SCHEMAS = {
    "quantized_lstm": f"Tensor x, Tensor? h, Tensor? c, {_STEP}, int cell_bits,"
    f" {_RESULT}",
    "quantized_gru": f"Tensor x, Tensor? h, {_STEP}, {_RESULT}",
}
RESULTS = {"quantized_lstm": 3, "quantized_gru": 2}
FRACTION = 11  # bits of what goes into sigmoid and tanh
MORE = 4  # bits of sums before they are rounded to that
ONE = 15  # fraction bits of what comes out
_TABLE = 512  # steps from -16 to 16


def quantized_lstm(x: Any, h: Any, c: Any, *others: Any) -> tuple[Any, Any, Any]:
    torch = need("torch")
    weights_x, weights_h, scales, shift_x, shift_h, cell_bits, *result = others
    by, by_h, bias = scales.to(torch.int64).chunk(3)
    steps, size = _steps(x, *result[3:]), weights_h.shape[1]
    zeros = steps.new_zeros((steps.shape[1], size))
    h = zeros + result[2] if h is None else h.to(torch.int64)
    c = zeros if c is None else c.to(torch.int64)
    outputs = []
    for step in steps:
        sums = products(step, weights_x, by, shift_x)
        sums = sums + products(h, weights_h, by_h, shift_h) + bias
        i, f, g, o = _limited(sums).chunk(4, dim=1)
        kept = rounded(_sigmoid(f) * c, ONE)
        fresh = rounded(rounded(_sigmoid(i) * _tanh(g), ONE), ONE - cell_bits)
        c = (kept + fresh).clamp(-32768, 32767)
        inside = _shifted(c, FRACTION + 1 - cell_bits)
        h = _int8(rounded(_sigmoid(o) * _tanh(inside), ONE), *result[:3])
        outputs.append(h)
    y = _outputs(outputs, x, size, *result[3:])
    return y, h.to(torch.int8), c.to(torch.int16)


def quantized_gru(x: Any, h: Any, *others: Any) -> tuple[Any, Any]:
    torch = need("torch")
    weights_x, weights_h, scales, shift_x, shift_h, *result = others
    rows, size = len(weights_x), weights_h.shape[1]
    by, by_h, bias = scales.to(torch.int64).split([rows, rows, rows + size])
    steps = _steps(x, *result[3:])
    h = steps.new_zeros((steps.shape[1], size)) if h is None else h.to(torch.int64)
    both = slice(0, 2 * size)
    outputs = []
    for step in steps:
        outer = products(step, weights_x, by, shift_x)
        inner = products(_int8(h, *result[:3]), weights_h, by_h, shift_h)
        sums = outer[:, both] + inner[:, both] + bias[both]
        r, z = _sigmoid(_limited(sums)).chunk(2, dim=1)
        of_x = _limited(outer[:, 2 * size :] + bias[2 * size : 3 * size])
        of_h = _limited(inner[:, 2 * size :] + bias[3 * size :])
        n = _tanh((of_x + rounded(r * of_h, ONE)).clamp(-32768, 32767))
        fresh = n - rounded(z * n, ONE)
        h = (rounded(z * h, ONE) + fresh).clamp(-32768, 32767)
        outputs.append(_int8(h, *result[:3]))
    return _outputs(outputs, x, size, *result[3:]), h.to(torch.int16)


def _steps(x: Any, batch_first: bool, is_reverse: bool) -> Any:
    """(steps, n, inputs) int64, in the order in which they are computed."""
    wide = x.to(need("torch").int64)
    if x.dim() == 2:
        return wide[None]
    wide = wide.transpose(0, 1) if batch_first else wide
    return wide.flip(0) if is_reverse else wide


def _outputs(
    outputs: list[Any], x: Any, size: int, batch_first: bool, is_reverse: bool
) -> Any:
    torch = need("torch")
    if x.dim() == 2:
        return outputs[0].to(torch.int8)
    if not outputs:
        return x.new_zeros((*x.shape[:2], size))
    y = torch.stack(outputs[::-1] if is_reverse else outputs).to(torch.int8)
    return y.transpose(0, 1).contiguous() if batch_first else y


def products(x: Any, weights: Any, multipliers: Any, shift: int) -> Any:
    """Sums of products, of FRACTION + MORE fraction bits without their bias."""
    sums = (x.double() @ weights.double().T).to(need("torch").int64)
    return ((sums << shift) * multipliers + (1 << 31)) >> 32


def _limited(sums: Any) -> Any:
    """int16 of FRACTION fraction bits."""
    return (wrapped(sums) >> MORE).clamp(-32768, 32767)


def wrapped(x: Any) -> Any:
    """int32."""
    return ((x + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def rounded(x: Any, bits: int) -> Any:
    return (x + ((1 << bits) >> 1)) >> bits


def _shifted(x: Any, left: int) -> Any:
    """int16, saturated; to the right, and rounded, where `left` is negative."""
    moved = x << left if left >= 0 else rounded(x, -left)
    return moved.clamp(-32768, 32767)


def _sigmoid(x: Any) -> Any:
    """Of FRACTION fraction bits -> of ONE: between the two values of a table."""
    return quantized_table_int16(x, _table()).to(need("torch").int64)


def _tanh(twice: Any) -> Any:
    """Of half of an argument's."""
    return 2 * _sigmoid(twice) - (1 << ONE)


@functools.cache
def _table() -> Any:
    torch = need("torch")
    at = torch.arange(-_TABLE // 2, _TABLE // 2 + 1, dtype=torch.float64) / 16
    whole = (torch.sigmoid(at) * (1 << ONE)).round().to(torch.int64)
    return whole.clamp(max=(1 << ONE) - 1)


def _int8(x: Any, multiplier: int, shift: int, zero_point: int) -> Any:
    moved = rounded(rounded(x * multiplier, ONE), shift) + zero_point
    return moved.clamp(-128, 127)


def lstm_shape(x: Any, h: Any, c: Any, *others: Any) -> tuple[Any, Any, Any]:
    y, state = _shapes(x, others[1].shape[1], others[-2])
    return y, state, state.new_empty(state.shape, dtype=need("torch").int16)


def gru_shape(x: Any, h: Any, *others: Any) -> tuple[Any, Any]:
    y, state = _shapes(x, others[1].shape[1], others[-2])
    return y, state.new_empty(state.shape, dtype=need("torch").int16)


def _shapes(x: Any, size: int, batch_first: bool) -> tuple[Any, Any]:
    rows = x.shape[1] if x.dim() == 3 and not batch_first else x.shape[0]
    return x.new_empty((*x.shape[:-1], size)), x.new_empty((rows, size))


SHAPES: dict[str, Callable[..., Any]] = {
    "quantized_lstm": lstm_shape,
    "quantized_gru": gru_shape,
}
