"""Filters of 3 x 3 taps transformed for Winograd's convolution by cores with DSP
instructions (kernels/cortex_m/winograd_s8.h).

Four outputs take 16 products of each channel instead of 36, exactly: weights are
4 G g G^T in int16, 3.6 times as many bytes as plain ones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ember.files.tensors import DType
from ember.program import types
from ember.select.packed_convolutions import Form, PlainConv, Weights

_TWICE_G = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]], np.int32)
_TAPS, _PAIR, _EIGHT = 3, 2, 8
_MOST_CHANNELS = 1024
_LEAST = 4  # outputs of a row, and rows: with fewer, too much of the tiles is nothing


def _packed(layer: PlainConv) -> npt.NDArray[np.int16] | None:
    filters, height, width, channels = layer.weights.shape
    fits = (
        (height, width) == (_TAPS, _TAPS)
        and set(layer.stride) == {1}
        and filters % _PAIR == 0
        and channels % _EIGHT == 0
        and 0 < channels <= _MOST_CHANNELS
        and min(layer.height, layer.width) >= _LEAST
    )
    return transformed(layer.weights) if fits else None


def transformed(weights: Weights) -> npt.NDArray[np.int16]:
    """Weights (filters, 3, 3, channels) as kernels read them: (filters, 4, 4,
    channels) in number, in the order of winograd_s8.h."""
    filters, _, _, channels = weights.shape
    taps = np.einsum("ia,fabc,jb->fijc", _TWICE_G, weights.astype(np.int32), _TWICE_G)
    # (pair, filter, position, four channels, which of two, even or odd)
    parts = taps.reshape(filters // _PAIR, _PAIR, 16, channels // 4, 2, 2)
    order = parts.transpose(0, 2, 3, 5, 1, 4)
    ordered = np.ascontiguousarray(order).astype("<i2")
    return ordered.reshape(filters, 4, 4, channels)


FORM = Form(
    types.Operator("ember::winograd_conv2d", "out"),
    "winograd_conv2d_s8_dsp",
    DType.INT16,
    -1,
    _packed,
)
