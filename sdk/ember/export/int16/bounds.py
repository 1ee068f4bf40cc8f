"""Weights and biases of filters become integers whose sums int32 holds.

The sum of a filter is within int32 for any input if 2^15 times the sum of its weights'
magnitudes, and its bias, are. Of filters that reach further, which are long or have a
bias far above their weights, both get a larger scale.
"""

from __future__ import annotations

from typing import Any

from ember.export.packages import need

_ROOM = (1 << 31) - 1
_LARGEST = 1 << 15  # magnitude of an input
_LESS = 0.99


def fitted(weights: Any, scales: Any, bias: Any, step: float) -> tuple[Any, Any, Any]:
    """Weights (filters, ..) of int8, their scales, biases as integers or None; and the
    same with sums that fit.

    scales -- of weights, in float64, one for each filter
    bias -- as float, or None
    step -- of an input
    """
    torch = need("torch")
    rows = weights.flatten(1).double()
    scales = scales.double()
    real = torch.zeros_like(scales) if bias is None else bias.detach().double()
    shrunk = torch.ones_like(scales)
    while True:
        integers = (rows * shrunk[:, None]).round()
        biases = (real / (scales / shrunk * step)).round()
        reach = integers.abs().sum(1) * _LARGEST + biases.abs()
        over = reach > _ROOM
        if not over.any():
            break
        shrunk = torch.where(over, shrunk * _LESS * (_ROOM / reach), shrunk)
    whole = integers.reshape(weights.shape).to(torch.int8)
    added = None if bias is None else biases.to(torch.int32)
    return whole, scales / shrunk, added
