"""The operators ember::svdf and ember::quantized_svdf, as PyTorch computes them.

ember::svdf(x, held, weights, times, bias, rank)  -> y, next

    x        (n, inputs), or (n, steps, inputs)
    held     (n, filters, memory): results of the filters before, the oldest first
    weights  (filters, inputs); times (filters, memory); bias (units) or None
    y        (n, units), or (n, steps, units): `rank` filters are one unit's
    next     (n, filters, memory): `held` behind the last step

It is of PyTorch's own operators, and learns. ember::quantized_svdf is the same in whole
numbers: int8 in and out, int16 between; kernels/recurrent/svdf.h has the formulas.
"""

from __future__ import annotations

from typing import Any

from ember.export.packages import need
from ember.export.recurrent.operators import MORE, ONE, products, rounded, wrapped

FLOAT = "Tensor x, Tensor held, Tensor weights, Tensor times, Tensor? bias, int rank"
SCHEMAS = {
    "quantized_svdf": "Tensor x, Tensor held, Tensor weights, Tensor times,"
    " Tensor scales, int shift, int shift_y, int rank"
}
RESULTS = {"svdf": 2, "float_svdf": 2, "quantized_svdf": 2}


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


SHAPES = {"quantized_svdf": quantized_svdf_shape}
