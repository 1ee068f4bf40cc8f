# SPDX-License-Identifier: Apache-2.0
"""Convolutions of Cadence's dialect become programs with weights that are packed for
cores with DSP instructions, on a computer where no such kernel is chosen."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.hvx_layers import Convolution
from cadence_panel_programs import Layer
from panel_programs import needs

from ember.plan import trim
from ember.program import Program
from ember.select import cadence_packed, panels

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
LAYERS = {
    f"{name}_{'last' if last else 'first'}": Layer(convolution, last)
    for name, convolution in _CONVOLUTIONS.items()
    for last in (True, False)
}


def packed(layer: Layer) -> Program | None:
    """As if the kernel with DSP instructions were chosen for each call."""
    made = layer.model.program
    (kernel,) = (
        name for name, last in cadence_packed.KERNELS.items() if last == layer.last
    )
    chosen = [
        replace(need, calls=tuple(replace(call, kernel=kernel) for call in need.calls))
        for need in needs(made)
    ]
    after = panels.packed(made, chosen, {kernel})
    return after and trim.trimmed(after)
