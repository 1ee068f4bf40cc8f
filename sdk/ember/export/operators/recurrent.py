"""The operators of recurrent layers, as PyTorch computes them.

ember::quantized_lstm(x, h, c, ..)  -> y, last h, last c
ember::quantized_gru(x, h, ..)      -> y, last h

    x    (steps, n, inputs) int8, or (n, steps, inputs) with batch_first; (n, inputs):
         one step
    h    (n, size): of LSTM int8, scaled as y; of GRU int16 with 15 fraction bits. None:
         zeros
    c    (n, size) int16 with cell_bits fraction bits. None: zeros
    y    as x, with `size` last: int8

Weights are int8, with a scale for each row. `scales`, int32, are the multipliers of
products with x, those with h, and biases, which include the zero points. Rows are those
of PyTorch: i, f, g, o of LSTM, r, z, n of GRU, whose biases are r, z, n of x, n of h.
kernels/recurrent/recurrent.h has the formulas.

ember::svdf(x, held, weights, times, bias, rank)  -> y, next

    x        (n, inputs), or (n, steps, inputs)
    held     (n, filters, memory): earlier results of the filters, the oldest first
    weights  (filters, inputs); times (filters, memory); bias (units) or None
    y        (n, units), or (n, steps, units): `rank` filters are one unit's
    next     (n, filters, memory): `held` after the last step

ember::svdf consists of PyTorch's operators and has a gradient. The quantized_* compute
only in integers, so that boards give the same bits; kernels/recurrent/svdf.h has the
formulas of ember::quantized_svdf: int8 in and out, int16 between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ember.export.operators.int16 import quantized_table_int16
from ember.export.packages import need

_STEP = "Tensor weights_x, Tensor weights_h, Tensor scales, int shift_x, int shift_h"
_RESULT = "int multiplier, int shift, int zero_point, bool batch_first, bool is_reverse"
SCHEMAS = {
    "quantized_lstm": f"Tensor x, Tensor? h, Tensor? c, {_STEP}, int cell_bits,"
    f" {_RESULT}",
    "quantized_gru": f"Tensor x, Tensor? h, {_STEP}, {_RESULT}",
    "quantized_svdf": "Tensor x, Tensor held, Tensor weights, Tensor times,"
    " Tensor scales, int shift, int shift_y, int rank",
}
RESULTS = {
    **{"quantized_lstm": 3, "quantized_gru": 2},
    **{"svdf": 2, "float_svdf": 2, "quantized_svdf": 2},
}
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
    """(steps, n, inputs) int64, in the order of computation."""
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
    """Sums of products, with FRACTION + MORE fraction bits, without their bias."""
    sums = (x.double() @ weights.double().T).to(need("torch").int64)
    return ((sums << shift) * multipliers + (1 << 31)) >> 32


def _limited(sums: Any) -> Any:
    """Saturates sums to int16 with FRACTION fraction bits."""
    return (wrapped(sums) >> MORE).clamp(-32768, 32767)


def wrapped(x: Any) -> Any:
    """Wraps to int32."""
    return ((x + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def rounded(x: Any, bits: int) -> Any:
    return (x + ((1 << bits) >> 1)) >> bits


def _shifted(x: Any, left: int) -> Any:
    """Shifts left, or right and rounded if `left` is negative; saturates to int16."""
    moved = x << left if left >= 0 else rounded(x, -left)
    return moved.clamp(-32768, 32767)


def _sigmoid(x: Any) -> Any:
    """FRACTION fraction bits -> ONE, interpolated between values of a table."""
    return quantized_table_int16(x, _table()).to(need("torch").int64)


def _tanh(twice: Any) -> Any:
    """The tanh of half of `twice`."""
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


# ---- SVDF ----------------------------------------------------------------------------


SVDF = "Tensor x, Tensor held, Tensor weights, Tensor times, Tensor? bias, int rank"


def svdf(
    x: Any, held: Any, weights: Any, times: Any, bias: Any, rank: int
) -> tuple[Any, Any]:
    torch = need("torch")
    fresh = torch.nn.functional.linear(x, weights)
    if x.dim() == 2:
        line = torch.cat([held[..., 1:], fresh[..., None]], dim=-1)
        sums = (line * times).sum(-1)
        y = sums.unflatten(1, (-1, rank)).sum(-1)
        return (y if bias is None else y + bias), line
    line = torch.cat([held, fresh.transpose(1, 2)], dim=-1)
    memory = times.shape[1]
    windows = line.unfold(2, memory, 1)[:, :, 1:]
    sums = (windows * times[:, None]).sum(-1)
    y = sums.unflatten(1, (-1, rank)).sum(2).transpose(1, 2)
    return (y if bias is None else y + bias), line[..., -memory:].clone()


def quantized_svdf(x: Any, held: Any, *others: Any) -> tuple[Any, Any]:
    torch = need("torch")
    weights, times, scales, shift, shift_y, rank = others
    filters = len(weights)
    units = filters // rank
    wide = scales.to(torch.int64)
    by, bias, by_y, bias_y = wide.split([filters, filters, units, units])
    line, factors = held.to(torch.int64), times.to(torch.int64)
    outputs = []
    for step in (x[:, None] if x.dim() == 2 else x).unbind(1):
        sums = wrapped(products(step, weights, by, shift) + bias) >> MORE
        fresh = sums.clamp(-32768, 32767)
        line = torch.cat([line[..., 1:], fresh[..., None]], dim=-1)
        total = (line * factors).sum(-1).unflatten(1, (units, rank)).sum(-1)
        moved = wrapped(rounded(total, ONE) << shift_y)
        y = wrapped(((moved * by_y + (1 << 31)) >> 32) + bias_y) >> MORE
        outputs.append(y.clamp(-128, 127).to(torch.int8))
    shape = quantized_svdf_shape(x, held, *others)[0].shape
    y = torch.stack(outputs, 1).reshape(shape) if outputs else x.new_empty(shape)
    return y, line.to(torch.int16)


def quantized_svdf_shape(x: Any, held: Any, *others: Any) -> tuple[Any, Any]:
    units = len(others[0]) // others[-1]
    return x.new_empty((*x.shape[:-1], units)), held.new_empty(held.shape)


SHAPES: dict[str, Callable[..., Any]] = {
    "quantized_lstm": lstm_shape,
    "quantized_gru": gru_shape,
    "quantized_svdf": quantized_svdf_shape,
}
