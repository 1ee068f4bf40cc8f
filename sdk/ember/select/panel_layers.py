"""Weights of convolutions become the bytes of panels for Hexagon's vectors.

The layouts are those of kernels/engine/int8/panels_s8.h and depthwise_panels_s8.h. In
Cadence's dialect weights whose channels come first are turned on the way, which kernels
would otherwise do in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ember.files.tensors import DType
from ember.kernels.schemas import NamedCall
from ember.program import types
from ember.program.edit import Additions, Argument

ALIGN = 128  # bytes of a vector: panels are at multiples
STEP = 8  # elements of a window that are read at a time
_LANES, _VECTORS, _GROUP = 32, 4, 4
_ADDED = 128
_MOST_MERGED = 8
_TILE = 12  # packets of a window beside those of its products
_ELEMENTS_FOR_WEIGHT = 16  # that make a second set of weights worth it

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Geometry:
    """Of a convolution: pairs are height, then width."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    out: tuple[int, int]


@dataclass(frozen=True)
class Scales:
    """Of filters."""

    bias: Array
    multipliers: Array
    shifts: Array

    def rows(self, sums: Array, offset: int) -> Array:
        """The numbers of filters (scale_hvx.h), where weights have these sums."""
        initial = (sums * offset + self.bias).astype(np.int32)
        less = -1 - self.shifts
        halves = np.maximum(less, 0)
        return np.stack([initial, self.multipliers, self.shifts, halves, less >> 31])


# ---- convolutions of Cadence's dialect -----------------------------------------------


CONV = types.Operator("ember::cadence_conv2d_panels", "out")
DEPTHWISE = types.Operator("ember::cadence_depthwise_conv2d_panels", "out")
# The kernels whose calls get weights in panels: whether channels are innermost.
KERNELS = {"cadence_conv_nhwc_s8_hvx": True, "cadence_conv_nchw_s8_hvx": False}
_PANELS = {
    CONV: "cadence_conv2d_panels_hvx",
    DEPTHWISE: "cadence_depthwise_conv2d_panels_hvx",
}
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
    look: Additions, instruction: int, call: NamedCall, *, last: bool
) -> PanelLayer | None:
    """None for a call whose weights stay: those in groups, of one dimension, or not of
    numbers and constants."""
    weights, is_depthwise = weights_of(look, call, last=last)
    numbers = numbers_of(look, call)
    bias = look.constant(call["bias"], DType.INT32)
    geometry = _geometry(look, call, weights, last=last)
    if weights is None or numbers is None or bias is None or geometry is None:
        return None
    none = np.zeros_like(bias)
    pack = depthwise if is_depthwise else plain
    offset = int(numbers["input_offset"].value)
    packed = pack(weights, Scales(bias, none, none), offset, geometry)
    if packed is None:
        return None
    return PanelLayer(
        instruction=instruction,
        operator=DEPTHWISE if is_depthwise else CONV,
        data=call.tensor("weight").data_index,
        result=call.result,
        arguments={
            **call.arguments,
            **numbers,
            "panels": packed.panels,
            "kernel": (len(bias), *geometry.kernel),
            **{name: types.Int(number) for name, number in packed.layout.items()},
            "channel_last": types.Bool(last),
        },
    )


def numbers_of(
    look: Additions, call: NamedCall
) -> Mapping[str, types.Int | types.Double] | None:
    """Zero points, scale and inverse as they are in the device's int8 and float32."""
    zero = look.integer(call["input_zero_point"])
    y_zero = look.integer(call["out_zero_point"])
    scale, y_scale = call.value("bias_scale"), call.value("out_scale")
    if zero is None or y_zero is None:
        return None
    if not isinstance(scale, types.Double) or not isinstance(y_scale, types.Double):
        return None
    inverse = np.float32(1.0) / np.float32(y_scale.value)
    return {
        "input_offset": types.Int(-_byte(zero)),
        "output_offset": types.Int(_byte(y_zero)),
        "scale": types.Double(float(np.float32(scale.value))),
        "inverse": types.Double(float(inverse)),
    }


def _byte(number: int) -> int:
    """As it wraps around in int8."""
    return (number + 128) % 256 - 128


def weights_of(
    look: Additions, call: NamedCall, *, last: bool
) -> tuple[Array | None, bool]:
    """(filters, height, width, depth), or of one filter a channel (height, width,
    channels) and True."""
    weights = look.constant(call["weight"], DType.INT8)
    x, groups = call.value("input"), look.integer(call["groups"])
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
    look: Additions, call: NamedCall, weights: Array | None, *, last: bool
) -> Geometry | None:
    pairs = [look.integers(call[name]) for name in ("stride", "dilation")]
    out = call.value("out")
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


# ---- layers of any dialect -----------------------------------------------------------


@dataclass(frozen=True)
class PackedPanels:
    """Panels, and the integers that tell how they lie: arguments of calls."""

    panels: Array
    layout: Mapping[str, int]


@dataclass(frozen=True)
class PanelLayer:
    """A convolution whose weights can be packed: a call of `operator`."""

    instruction: int
    operator: types.Operator
    data: int  # the constant that its weights are
    result: int  # value
    arguments: Mapping[str, Argument]
    align: int = ALIGN  # bytes that the weights' address is a multiple of


def plain(
    weights: Array, scales: Scales, offset: int, geometry: Geometry
) -> PackedPanels | None:
    """Of (filters, height, width, depth)."""
    if _is_short(weights, geometry):
        return None
    filters, depth = int(weights.shape[0]), int(weights.shape[3])
    merged = merged_filters(filters, depth, geometry)
    stride = geometry.stride[1]
    panels = panel_bytes(weights, scales, offset, merged, stride)
    return PackedPanels(panels, {"merged": merged})


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
    period = depthwise_period(channels, geometry)
    sharing = depthwise_sharing(channels, geometry)
    panels = depthwise_panels(weights, scales, offset, period, sharing)
    return PackedPanels(panels, {"period": period, "sharing": sharing})


# ---- convolutions --------------------------------------------------------------------


def merged_filters(filters: int, depth: int, geometry: Geometry) -> int:
    """How many adjacent outputs share a window, so that filters fill vectors."""
    height, width = geometry.kernel
    stride, dilation, outputs = (
        pair[1] for pair in (geometry.stride, geometry.dilation, geometry.out)
    )

    def cost(outputs: int) -> int:
        run = (width + (outputs - 1) * stride) * depth
        return height * ((run + STEP - 1) // STEP + 1) + _TILE

    best = 1
    if dilation != 1 and width != 1:
        return best
    for count in range(2, min(_MOST_MERGED, outputs, _LANES // filters) + 1):
        if cost(count) * best < cost(best) * count:
            best = count
    return best


def panel_bytes(
    weights: Array, scales: Scales, offset: int, outputs: int, stride: int
) -> Array:
    """Of (filters, height, width, depth), for windows of `outputs` adjacent outputs
    that are `stride` apart."""
    sums = weights.reshape(len(weights), -1).sum(1, dtype=np.int64)
    lanes = _lanes(weights, outputs, stride)
    rows = np.tile(scales.rows(sums, offset), outputs)
    missing = -len(lanes) % _LANES
    lanes = np.pad(lanes, ((0, missing), (0, 0)))
    rows = np.pad(rows, ((0, 0), (0, missing)))
    most = _LANES * _VECTORS
    pieces = [
        piece
        for first in range(0, len(lanes), most)
        for piece in _panel(lanes[first : first + most], rows[:, first : first + most])
    ]
    return np.concatenate(pieces).view(np.int8)


def _lanes(weights: Array, outputs: int, stride: int) -> Array:
    """(lanes, elements): rows of taps one after the other, each rounded up."""
    filters, height, width, depth = weights.shape
    run, shift = width * depth, stride * depth
    segment = -(-(run + (outputs - 1) * shift) // STEP) * STEP
    lanes = np.zeros((outputs, filters, height, segment), np.int8)
    for output in range(outputs):
        first = output * shift
        lanes[output, :, :, first : first + run] = weights.reshape(filters, height, run)
    return lanes.reshape(outputs * filters, height * segment)


def _panel(lanes: Array, rows: Array) -> Iterator[Array]:
    yield _numbers(rows)
    added = (lanes.astype(np.int16) + _ADDED).astype(np.uint8)
    words = added.reshape(len(lanes) // _LANES, _LANES, -1, _GROUP)
    yield np.ascontiguousarray(words.transpose(2, 0, 1, 3)).reshape(-1)


def _numbers(rows: Array) -> Array:
    """The bytes of rows of numbers: those of each vector side by side."""
    vectors = rows.reshape(len(rows), -1, _LANES).transpose(1, 0, 2)
    return np.ascontiguousarray(vectors, "<i4").reshape(-1).view(np.uint8)


# ---- depthwise convolutions ----------------------------------------------------------


def depthwise_period(channels: int, geometry: Geometry) -> int:
    """The weights of a tap: all channels as often as it takes until 128 outputs start
    with the first one again, but no more than a row of outputs has."""
    even = channels & -channels
    times = ALIGN // even if even < ALIGN else 1
    row = -(-geometry.out[1] * channels // ALIGN) * ALIGN
    return min(times * channels, row)


def depthwise_sharing(channels: int, geometry: Geometry) -> int:
    """Of how many rows of outputs four rows of the image are read once."""
    height, width = geometry.kernel
    columns = geometry.out[1] + (width - 1) * geometry.dilation[1] // geometry.stride[1]
    weights = depthwise_period(channels, geometry) * width
    worth = geometry.out[0] * columns * channels > _ELEMENTS_FOR_WEIGHT * weights
    together = geometry.stride[0] == geometry.dilation[0] == 1
    return 2 if height < _GROUP and together and worth else 1


def depthwise_panels(
    weights: Array, scales: Scales, offset: int, length: int, sets: int
) -> Array:
    """Of (height, width, channels), repeated up to `length`; `sets` of them, each one
    row of taps further down."""
    channels = weights.shape[-1]
    at = np.arange(length) % channels
    sums = weights.reshape(-1, channels).sum(0, dtype=np.int64)
    pieces = [_four_rows(weights, down)[..., at, :].reshape(-1) for down in range(sets)]
    numbers = _numbers(scales.rows(sums, offset)[:, at])
    return np.concatenate([*pieces, numbers.view(np.int8)])


def _four_rows(weights: Array, down: int) -> Array:
    """(groups, width, channels, 4)."""
    height, width, channels = weights.shape
    groups = -(-height // _GROUP)
    rows = np.zeros((groups * _GROUP, width, channels), np.int8)
    rows[down : down + height] = weights
    return rows.reshape(groups, _GROUP, width, channels).transpose(0, 2, 3, 1)
