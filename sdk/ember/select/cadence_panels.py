# SPDX-License-Identifier: Apache-2.0
"""Convolutions of Cadence's dialect whose weights become panels.

Weights whose channels come first are turned on the way, which kernels would otherwise
do in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ember.files.tensors import DType
from ember.program import types
from ember.program.additions import Additions
from ember.select import panel_layers
from ember.select.panel_layers import PanelLayer
from ember.select.panel_layout import Array, Geometry, Scales

CONV = types.Operator("ember::cadence_conv2d_panels", "out")
DEPTHWISE = types.Operator("ember::cadence_depthwise_conv2d_panels", "out")
# The kernels whose calls get weights in panels: whether channels are innermost.
KERNELS = {"cadence_conv_nhwc_s8_hvx": True, "cadence_conv_nchw_s8_hvx": False}
_PANELS = {
    CONV: "cadence_conv2d_panels_hvx",
    DEPTHWISE: "cadence_depthwise_conv2d_panels_hvx",
}
_X, _W, _BIAS, _STRIDE, _PADDING, _DILATION, _GROUPS = range(7)  # arguments
_X_ZERO, _W_ZERO, _SCALE, _Y_SCALE, _Y_ZERO = range(7, 12)
_RANK = 4


def kernels(allowed: Mapping[str, Sequence[str]], pins: Collection[str]) -> set[str]:
    """The kernels whose calls may get weights in panels: those that then take them are
    allowed, and no operator of the dialect is pinned."""
    return set(KERNELS) if are_free(_PANELS, allowed, pins) else set()


def are_free(
    kernels: Mapping[types.Operator, str],
    allowed: Mapping[str, Sequence[str]],
    pins: Collection[str],
) -> bool:
    """Whether the kernels of operators are allowed, and no operator of the dialect is
    pinned."""
    free = all(
        kernel in allowed.get(operator.full_name, ())
        for operator, kernel in kernels.items()
    )
    return free and not any(pin.startswith("cadence::") for pin in pins)


def layer(
    look: Additions, instruction: int, args: tuple[int, ...], *, last: bool
) -> PanelLayer | None:
    """None for a call whose weights stay: those in groups, of one dimension, or not of
    numbers and constants."""
    own, out = look.value(args[_W]), look.value(args[-1])
    weights, is_depthwise = weights_of(look, args, last=last)
    numbers = numbers_of(look, args)
    bias = look.constant(args[_BIAS], DType.INT32)
    geometry = _geometry(look, args, weights, out, last=last)
    if weights is None or numbers is None or bias is None or geometry is None:
        return None
    assert isinstance(own, types.Tensor)
    zero, *rest = numbers
    none = np.zeros_like(bias)
    pack = panel_layers.depthwise if is_depthwise else panel_layers.plain
    packed = pack(weights, Scales(bias, none, none), -zero, geometry)
    if packed is None:
        return None
    return PanelLayer(
        instruction=instruction,
        operator=DEPTHWISE if is_depthwise else CONV,
        data=own.data_index,
        image=args[_X],
        panels=packed.panels,
        kernel=(len(bias), *geometry.kernel),
        rest=(
            *args[_STRIDE : _DILATION + 1],
            types.Int(-zero),
            *rest,
            *(types.Int(number) for number in packed.layout),
            types.Bool(last),
            *args[-2:],
        ),
    )


_Rest = tuple[int, types.Value, types.Value, types.Value]


def numbers_of(look: Additions, args: tuple[int, ...]) -> _Rest | None:
    """The zero point of the input; that of the output, scale and inverse as they are in
    the device's float32."""
    zero, y_zero = look.integer(args[_X_ZERO]), look.integer(args[_Y_ZERO])
    scale, y_scale = look.value(args[_SCALE]), look.value(args[_Y_SCALE])
    if zero is None or y_zero is None:
        return None
    if not isinstance(scale, types.Double) or not isinstance(y_scale, types.Double):
        return None
    inverse = np.float32(1.0) / np.float32(y_scale.value)
    return (
        _byte(zero),
        types.Int(_byte(y_zero)),
        types.Double(float(np.float32(scale.value))),
        types.Double(float(inverse)),
    )


def _byte(number: int) -> int:
    """As it wraps around in int8."""
    return (number + 128) % 256 - 128


def weights_of(
    look: Additions, args: tuple[int, ...], *, last: bool
) -> tuple[Array | None, bool]:
    """(filters, height, width, depth), or of one filter a channel (height, width,
    channels) and True."""
    weights = look.constant(args[_W], DType.INT8)
    x, groups = look.value(args[_X]), look.integer(args[_GROUPS])
    if weights is None or not isinstance(x, types.Tensor) or len(x.sizes) != _RANK:
        return None, False
    if weights.ndim < _RANK:  # (height, width, filters), which see one channel each
        whole = np.moveaxis(weights, 2, 0)[..., None]
    else:
        whole = weights if last else np.moveaxis(weights, 1, 3)
    filters, depth = whole.shape[0], whole.shape[3]
    if groups == 1:
        return whole, False
    if depth == 1 and groups == filters:
        return np.moveaxis(whole[..., 0], 0, 2), True
    return None, False


def _geometry(
    look: Additions,
    args: tuple[int, ...],
    weights: Array | None,
    out: types.Value,
    *,
    last: bool,
) -> Geometry | None:
    pairs = [look.integers(args[index]) for index in (_STRIDE, _DILATION)]
    if weights is None or not isinstance(out, types.Tensor) or out.is_dynamic:
        return None
    if any(pair is None or len(pair) != 2 for pair in pairs):
        return None
    (stride, dilation) = ((pair[0], pair[1]) for pair in pairs if pair)
    first = weights.ndim - 3  # of the taps
    space = out.sizes[1:3] if last else out.sizes[2:4]
    return Geometry(
        (int(weights.shape[first]), int(weights.shape[first + 1])),
        stride,
        dilation,
        (space[0], space[1]),
    )
