"""Weights of convolutions packed for cores with DSP instructions: four filters, four
elements (kernels/cortex_m/packed_s8.h).

Two filters share what is loaded: as int16, two bytes are 256 times the weight of the
second, that of the first and 128. Packed weights are as long as plain ones, except
where rows of taps end in zeros.
"""

from __future__ import annotations

import numpy as np

from ember.files.tensors import DType
from ember.program import types
from ember.select.packed_convolutions import Form, PlainConv, Weights

_FOUR = 4  # filters, and elements
_MOST_ROW = 4 / 3  # as long as a row may be beside that of the taps


def _packed(layer: PlainConv) -> Weights | None:
    return packed_weights(layer.weights)


def packed_weights(weights: Weights) -> Weights | None:
    """Weights (filters, height, width, channels) as kernels read them packed; None
    where filters or rows do not come in fours."""
    filters, height, width, channels = weights.shape
    row = width * channels
    depth = next(d for d in range(channels, channels + _FOUR) if width * d % _FOUR == 0)
    if filters % _FOUR or not row or width * depth > _MOST_ROW * row:
        return None
    rows = np.zeros((filters, height, width * depth), np.int16)
    rows[:, :, :row] = weights.reshape(filters, height, row)
    pairs = rows[1::2] * 256 + rows[::2] + 128
    # (quad, pair, block, element of two, even or odd) -> (quad, block, even or odd, ..)
    blocks = pairs.astype("<i2").reshape(filters // _FOUR, 2, -1, 2, 2)
    order = np.ascontiguousarray(blocks.transpose(0, 2, 4, 1, 3))
    return order.view(np.int8).reshape(filters, height, width, depth)


FORM = Form(
    types.Operator("ember::packed_conv2d", "out"),
    "packed_conv2d_s8_dsp",
    DType.INT8,
    -3,  # EMBER_SHIFT_POWER_DSP
    _packed,
)
