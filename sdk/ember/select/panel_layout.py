"""Weights of convolutions become the bytes of panels for Hexagon's vectors.

The layouts are those of kernels/cortex_m/panels_s8.h and depthwise_panels_s8.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

ALIGN = 128  # bytes of a vector: panels lie at multiples
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


# ---- convolutions --------------------------------------------------------------------


def merged(filters: int, depth: int, geometry: Geometry) -> int:
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


def panels(
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


def period(channels: int, geometry: Geometry) -> int:
    """The weights of a tap: all channels as often as it takes until 128 outputs start
    with the first one again, but no more than a row of outputs has."""
    even = channels & -channels
    times = ALIGN // even if even < ALIGN else 1
    row = -(-geometry.out[1] * channels // ALIGN) * ALIGN
    return min(times * channels, row)


def sharing(channels: int, geometry: Geometry) -> int:
    """Of how many rows of outputs four rows of the image are read once."""
    height, width = geometry.kernel
    columns = geometry.out[1] + (width - 1) * geometry.dilation[1] // geometry.stride[1]
    weights = period(channels, geometry) * width
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
