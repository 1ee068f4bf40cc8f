# SPDX-License-Identifier: Apache-2.0
"""Convolutions of Cadence's dialect become programs with panels for Hexagon, on a
computer where no such kernel is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import cadence_layers
from benchmarks.hvx_layers import Convolution
from panel_programs import needs
from small_programs import KNOWN

from ember import program
from ember.model import Model
from ember.plan.replan import trimmed
from ember.program import Program
from ember.select import panel_layers, prepack


@dataclass(frozen=True)
class Layer:
    convolution: Convolution
    last: bool  # channels are innermost

    @property
    def model(self) -> Model:
        content = cadence_layers.written(self.convolution, self.last)
        return Model("made", Path("made.pte"), content, (), program.parse(content))


# Of either layout, what panels differ in: panel_programs.py. Images of one channel, or
# of one pixel, are not turned.
_CONVOLUTIONS = {
    "merged": Convolution(8, 6, 9, 7),
    "two_panels": Convolution(16, 164, 5, 4, kernel=1),
    "dilated": Convolution(12, 20, 9, 8, stride=2, dilation=2),
    "one_channel": Convolution(1, 9, 6, 7, kernel=1),
    "one_pixel": Convolution(8, 8, 1, 1),
    "depthwise": Convolution(24, 24, 8, 9, depthwise=True),
    "depthwise_shared": Convolution(16, 16, 36, 9, depthwise=True),
    "depthwise_5x5": Convolution(8, 8, 9, 8, kernel=5, stride=2, depthwise=True),
}


def of_both_layouts(convolutions: Mapping[str, Convolution]) -> dict[str, Layer]:
    return {
        f"{name}_{'last' if last else 'first'}": Layer(convolution, last)
        for name, convolution in convolutions.items()
        for last in (True, False)
    }


LAYERS = of_both_layouts(_CONVOLUTIONS)


def packed(layer: Layer) -> Program | None:
    """As if the kernel for Hexagon's vectors were chosen for each call."""
    return packed_for(layer, panel_layers.KERNELS)


def packed_for(layer: Layer, kernels: Mapping[str, bool]) -> Program | None:
    """As if that of the kernels (whether channels are innermost) were chosen for each
    call that has the layout."""
    content = layer.model.program
    (kernel,) = (name for name, last in kernels.items() if last == layer.last)
    chosen = [
        replace(need, calls=tuple(replace(call, kernel=kernel) for call in need.calls))
        for need in needs(content)
    ]
    after = prepack.with_panels(content, chosen, {kernel}, KNOWN)
    return after and trimmed(after)
