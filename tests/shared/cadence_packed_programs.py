# SPDX-License-Identifier: Apache-2.0
"""Convolutions of Cadence's dialect become programs with weights that are packed for
cores with DSP instructions, on a computer where no such kernel is chosen."""

from __future__ import annotations

from benchmarks.hvx_layers import Convolution
from cadence_panel_programs import Layer, of_both_layouts, packed_for

from ember.program import Program
from ember.select.packed import KERNELS

# Of either layout: rows of taps that are fours or end in zeros, taps beside the image
# and across it, an odd number of outputs, strides, and pixels that are the columns.
# Images of one channel, or of one pixel, are not turned.
_CONVOLUTIONS = {
    "fours": Convolution(8, 12, 9, 7),
    "filled": Convolution(3, 8, 9, 11, stride=2),
    "pixels": Convolution(16, 20, 5, 3, kernel=1),
    "apart": Convolution(16, 8, 7, 6, kernel=1, stride=2),
    "wide": Convolution(4, 4, 3, 3, kernel=5),
    "one_channel": Convolution(1, 4, 6, 7, kernel=4),
    "one_pixel": Convolution(8, 8, 1, 1),
}
LAYERS = of_both_layouts(_CONVOLUTIONS)


def packed(layer: Layer) -> Program | None:
    """As if the kernel with DSP instructions were chosen for each call."""
    return packed_for(layer, KERNELS)
