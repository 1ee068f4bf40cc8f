# SPDX-License-Identifier: Apache-2.0
"""Layers become programs of Cadence's dialect, with the weights that those of cortex_m
have."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.hvx_layers import Calls, Convolution, Layer, Linear, Writer
from ember.files.tensors import DType
from ember.program import types

_SCALE = 0.0021  # of sums; that of outputs is one


def written(layer: Layer, last: bool) -> bytes:
    """The program: an input, the layer, its output. `last`: channels are innermost."""
    if isinstance(layer, Convolution):
        return chained([layer], last)
    writer = Writer()
    args = _linear(writer, layer)
    return Calls(args[0], [(_operator("quantized_linear"), args)]).program(writer)


def chained(layers: Sequence[Convolution], last: bool) -> bytes:
    """The same of convolutions one after the other."""
    writer = Writer()
    first = layers[0]
    x = image(writer, first.channels, (first.height, first.width), last)
    calls = Calls(x)
    for layer in layers:
        calls.add(*convolution(writer, layer, calls.last, last))
    return calls.program(writer)


def _operator(name: str) -> types.Operator:
    return types.Operator(f"cadence::{name}", "per_tensor_out")


def image(writer: Writer, channels: int, space: tuple[int, int], last: bool) -> int:
    """A planned value."""
    sizes = (1, *space, channels) if last else (1, channels, *space)
    return writer.planned(DType.INT8, sizes, channels_last=False)


def convolution(
    writer: Writer, layer: Convolution, x: int, last: bool
) -> tuple[types.Operator, list[int]]:
    """A call with the image `x`; the last of its arguments is its output."""
    name = f"quantized_conv2d_{'nhwc' if last else 'nchw'}"
    name += "_depthwise_asym8sxsym8s_asym8s" if layer.depthwise else ""
    args = [
        x,
        _weights(writer, layer, last),
        writer.int32(-9999, 9999, layer.filters),
        *(writer.pair(n) for n in (layer.stride, layer.padding, layer.dilation)),
        *writer.numbers(layer.channels if layer.depthwise else layer.groups, -3, 0),
        *(writer.add(types.Double(n)) for n in (_SCALE, 1.0)),
        *writer.numbers(-5, 0, 0),
        image(writer, layer.filters, layer.out, last),
    ]
    if last and not layer.depthwise:
        args.insert(-1, writer.add(types.Null()))
    return _operator(name), args


def _weights(writer: Writer, layer: Convolution, last: bool) -> int:
    taps = (layer.kernel, layer.kernel)
    depth = 1 if layer.depthwise else layer.channels // layer.groups
    if layer.depthwise and last:
        return writer.int8(*taps, layer.filters)
    inner = (*taps, depth) if last else (depth, *taps)
    return writer.int8(layer.filters, *inner)


def _linear(writer: Writer, layer: Linear) -> list[int]:
    return [
        writer.planned(DType.INT8, (layer.rows, layer.inner)),
        writer.int8(layer.columns, layer.inner),
        writer.int32(-9999, 9999, layer.columns),
        *writer.numbers(3, 0, 1_500_000_000, -9, -5),
        writer.add(types.Null()),
        writer.planned(DType.INT8, (layer.rows, layer.columns)),
    ]
