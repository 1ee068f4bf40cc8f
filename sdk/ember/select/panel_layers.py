# SPDX-License-Identifier: Apache-2.0
"""Convolutions whose weights become panels, of whichever dialect."""

from __future__ import annotations

from dataclasses import dataclass

from ember.program import types
from ember.select import panel_layout
from ember.select.panel_layout import ALIGN, STEP, Array, Geometry, Scales


@dataclass(frozen=True)
class PackedPanels:
    """Panels, and the integers that tell how they lie."""

    panels: Array
    layout: tuple[int, ...]


@dataclass(frozen=True)
class PanelLayer:
    """A convolution whose weights can be packed: a call of `operator`.

    kernel -- filters, height, width; None where the weights have these sizes
    align -- bytes that the weights' address is a multiple of
    """

    instruction: int
    operator: types.Operator
    data: int  # the constant that its weights are
    image: int  # the first argument: a value of the method
    panels: Array
    kernel: tuple[int, int, int] | None
    rest: tuple[int | types.Value, ...]  # arguments: values of the method, or new ones
    align: int = ALIGN


def plain(
    weights: Array, scales: Scales, offset: int, geometry: Geometry
) -> PackedPanels | None:
    """Of (filters, height, width, depth)."""
    if _is_short(weights, geometry):
        return None
    filters, depth = int(weights.shape[0]), int(weights.shape[3])
    merged = panel_layout.merged(filters, depth, geometry)
    stride = geometry.stride[1]
    panels = panel_layout.panels(weights, scales, offset, merged, stride)
    return PackedPanels(panels, (merged,))


def _is_short(weights: Array, geometry: Geometry) -> bool:
    """Whether windows may become the rows of a matrix (im2row_hvx.h), which the kernel
    decides."""
    height, width = geometry.kernel
    depth = weights.shape[3]
    short = width * depth <= ALIGN and geometry.dilation[1] == 1
    return bool(depth % STEP and height > 1 and short)


def depthwise(
    weights: Array, scales: Scales, offset: int, geometry: Geometry
) -> PackedPanels:
    """Of (height, width, channels)."""
    channels = int(weights.shape[2])
    layout = (
        panel_layout.period(channels, geometry),
        panel_layout.sharing(channels, geometry),
    )
    panels = panel_layout.depthwise_panels(weights, scales, offset, *layout)
    return PackedPanels(panels, layout)
