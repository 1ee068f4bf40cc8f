# SPDX-License-Identifier: Apache-2.0
"""Convolutions of Cadence's dialect whose weights are packed for cores with DSP
instructions, as those of cortex_m are (quads).

Weights whose channels come first are turned on the way.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ember.program import types
from ember.program.additions import Additions
from ember.select import cadence_panels
from ember.select.panel_layers import PanelLayer
from ember.select.quads import packed_weights

CONV = types.Operator("ember::cadence_packed_conv2d", "out")
# The kernels whose calls get packed weights: whether channels are innermost.
KERNELS = {"cadence_conv_nhwc_s8_dsp": True, "cadence_conv_nchw_s8_dsp": False}
_PACKED = {CONV: "cadence_packed_conv2d_dsp"}
_X, _W, _BIAS, _STRIDE, _PADDING, _DILATION = range(6)  # arguments
_ALIGN = 4  # bytes


def kernels(allowed: Mapping[str, Sequence[str]], pins: Collection[str]) -> set[str]:
    """The kernels whose calls may get packed weights."""
    free = cadence_panels.are_free(_PACKED, allowed, pins)
    return set(KERNELS) if free else set()


def layer(
    look: Additions, instruction: int, args: tuple[int, ...], *, last: bool
) -> PanelLayer | None:
    """None for a call whose weights stay: those in groups, with taps apart, of one
    dimension, not of numbers and constants, or that do not come in fours."""
    own = look.value(args[_W])
    weights, is_depthwise = cadence_panels.weights_of(look, args, last=last)
    numbers = cadence_panels.numbers_of(look, args)
    if weights is None or is_depthwise or numbers is None:
        return None
    packed = packed_weights(weights)
    if packed is None or set(look.integers(args[_DILATION]) or (0,)) != {1}:
        return None
    assert isinstance(own, types.Tensor)
    zero, *rest = numbers
    return PanelLayer(
        instruction=instruction,
        operator=CONV,
        data=own.data_index,
        image=args[_X],
        panels=packed,
        kernel=None,
        rest=(
            args[_BIAS],
            *args[_STRIDE : _DILATION + 1],
            types.Int(-zero),
            *rest,
            types.Bool(last),
            *args[-2:],
        ),
        align=_ALIGN,
    )
