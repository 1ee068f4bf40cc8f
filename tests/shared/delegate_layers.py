"""Layers of XNNPACK delegates, each a graph of its own (delegate_graphs.py)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from delegate_graphs import Delegate

_KEEP_DIMS = 64  # of an output's dimensions, those of one element


@dataclass(frozen=True)
class Linear:
    form: str  # qs8, qd8, qc4, qb4, bf16
    rows: int
    inner: int
    columns: int
    group: int = 32

    @property
    def title(self) -> str:
        return f"linear_{self.form}_{self.rows}x{self.inner}x{self.columns}"

    @property
    def macs(self) -> int:
        return self.rows * self.inner * self.columns

    def built(self) -> Delegate:
        graph = Delegate(seed=self.macs)
        if self.form == "bf16":
            return self._built_bf16(graph)
        static = self.form == "qs8"
        make = graph.static if static else graph.floats
        x = make(self.rows, self.inner)
        y = make(self.rows, self.columns)
        bits = 4 if self.form == "qc4" else 8
        weights = (
            graph.grouped(self.columns, self.inner, self.group)
            if self.form == "qb4"
            else graph.weights(self.columns, self.inner, bits=bits)
        )
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            "FullyConnected",
            input1_id=x if static else graph.quantised(x),
            filter_id=weights,
            bias_id=(graph.bias if static else graph.float_bias)(self.columns),
            output_id=y,
        )
        return graph

    def _built_bf16(self, graph: Delegate) -> Delegate:
        x = graph.floats(self.rows, self.inner, datatype="bfloat16")
        y = graph.floats(self.rows, self.columns, datatype="bfloat16")
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            "FullyConnected",
            bounds=(-20.0, 20.0),
            input1_id=x,
            filter_id=graph.bf16_weights(self.columns, self.inner),
            bias_id=graph.float_bias(self.columns),
            output_id=y,
        )
        return graph


@dataclass(frozen=True)
class Convolution:
    form: str  # qs8, qd8
    channels: int
    filters: int
    height: int
    width: int
    kernel: tuple[int, int] = (3, 3)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (1, 1, 1, 1)  # top, right, bottom, left
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    images: int = 1
    kind: str = "Conv2d"  # DepthwiseConv2d, ConvTranspose2d

    @property
    def title(self) -> str:
        rest = "_".join(
            "x".join(map(str, each))
            for each in (self.kernel, self.stride, self.padding, self.dilation)
        )
        size = f"{self.images}x{self.height}x{self.width}x{self.channels}"
        return f"{self.kind}_{self.form}_{size}_{self.filters}_{self.groups}_{rest}"

    def _out(self, axis: int) -> int:
        size = (self.height, self.width)[axis]
        reach = self.dilation[axis] * (self.kernel[axis] - 1) + 1
        pads = self.padding[axis] + self.padding[axis + 2]
        pads = pads if axis == 0 else self.padding[1] + self.padding[3]
        if self.kind == "ConvTranspose2d":
            return (size - 1) * self.stride[axis] + reach - pads
        return (size + pads - reach) // self.stride[axis] + 1

    @property
    def macs(self) -> int:
        area = (
            (self.height * self.width)
            if self.kind == "ConvTranspose2d"
            else (self._out(0) * self._out(1))
        )
        taps = self.kernel[0] * self.kernel[1] * self.channels // self.groups
        return self.images * area * self.filters * taps

    def built(self) -> Delegate:
        graph = Delegate(seed=self.macs)
        static = self.form == "qs8"
        make = graph.static if static else graph.floats
        x = make(self.images, self.height, self.width, self.channels)
        y = make(self.images, self._out(0), self._out(1), self.filters)
        depthwise = self.kind == "DepthwiseConv2d"
        weights = (
            graph.weights(1, *self.kernel, self.filters, axis=3)
            if depthwise
            else graph.weights(self.filters, *self.kernel, self.channels // self.groups)
        )
        top, right, bottom, left = self.padding
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            self.kind,
            padding_top=top,
            padding_right=right,
            padding_bottom=bottom,
            padding_left=left,
            kernel_height=self.kernel[0],
            kernel_width=self.kernel[1],
            subsampling_height=self.stride[0],
            subsampling_width=self.stride[1],
            dilation_height=self.dilation[0],
            dilation_width=self.dilation[1],
            group_input_channels=self.channels // self.groups,
            group_output_channels=self.filters // self.groups,
            groups=self.groups,
            adjustment_height=0,
            adjustment_width=0,
            input1_id=x if static else graph.quantised(x, alike=3),
            filter_id=weights,
            bias_id=(graph.bias if static else graph.float_bias)(self.filters),
            output_id=y,
        )
        return graph


@dataclass(frozen=True)
class Pair:
    """Two static int8 values, broadcast."""

    kind: str  # Add, Subtract, Multiply
    a: tuple[int, ...]
    b: tuple[int, ...]
    bounds: tuple[float, float] | None = None

    @property
    def title(self) -> str:
        shapes = "_".join("x".join(map(str, each)) for each in (self.a, self.b))
        return f"{self.kind}_{shapes}{'_bounded' if self.bounds else ''}"

    def built(self) -> Delegate:
        graph = Delegate()
        a = graph.static(*self.a, scale=0.03, zero=-7)
        b = graph.static(*self.b, scale=0.011, zero=20)
        y = graph.static(*np.broadcast_shapes(self.a, self.b), scale=0.05, zero=4)
        graph.inputs, graph.outputs = [a, b], [y]
        graph.node(self.kind, self.bounds, input1_id=a, input2_id=b, output_id=y)
        return graph


@dataclass(frozen=True)
class Single:
    """A node of one value, from one datatype to another."""

    kind: str  # Clamp, Tanh, Convert, ...
    sizes: tuple[int, ...]
    form: str = "s8_s8"  # f32_s8, s8_f32
    bounds: tuple[float, float] | None = None
    same: bool = False  # scale and zero point stay

    @property
    def title(self) -> str:
        sizes = "x".join(map(str, self.sizes))
        rest = ("_bounded" if self.bounds else "") + ("_same" if self.same else "")
        return f"{self.kind}_{self.form}_{sizes}{rest}"

    def built(self) -> Delegate:
        graph = Delegate()
        before, after = self.form.split("_")

        def value(datatype: str, scale: float, zero: int) -> int:
            if datatype == "s8":
                return graph.static(*self.sizes, scale=scale, zero=zero)
            return graph.floats(*self.sizes)

        x = value(before, 0.03, -7)
        y = value(after, *((0.03, -7) if self.same else (0.021, 4)))
        graph.inputs, graph.outputs = [x], [y]
        extra = {"ELU": {"alpha": 0.7}, "LeakyReLU": {"negative_slope": 0.1}}
        graph.node(
            self.kind, self.bounds, input_id=x, output_id=y, **extra.get(self.kind, {})
        )
        return graph


@dataclass(frozen=True)
class Pool:
    """The largest number of each window."""

    sizes: tuple[int, int, int, int]
    kernel: tuple[int, int] = (2, 2)
    stride: tuple[int, int] = (2, 2)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    same: bool = True

    @property
    def title(self) -> str:
        parts = (self.sizes, self.kernel, self.stride, self.padding)
        return "MaxPool_" + "_".join("x".join(map(str, each)) for each in parts)

    def built(self) -> Delegate:
        graph = Delegate()
        top, right, bottom, left = self.padding
        n, h, w, c = self.sizes
        out = (
            (h + top + bottom - self.kernel[0]) // self.stride[0] + 1,
            (w + left + right - self.kernel[1]) // self.stride[1] + 1,
        )
        x = graph.static(*self.sizes)
        y = graph.static(n, *out, c, scale=0.05 if self.same else 0.03)
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            "MaxPooling2d",
            padding_top=top,
            padding_right=right,
            padding_bottom=bottom,
            padding_left=left,
            pooling_height=self.kernel[0],
            pooling_width=self.kernel[1],
            stride_height=self.stride[0],
            stride_width=self.stride[1],
            dilation_height=1,
            dilation_width=1,
            input_id=x,
            output_id=y,
        )
        return graph


@dataclass(frozen=True)
class Mean:
    """The mean of each channel of images."""

    sizes: tuple[int, int, int, int]
    flat: bool = False

    @property
    def title(self) -> str:
        return "Mean_" + "x".join(map(str, self.sizes)) + "_flat" * self.flat

    def built(self) -> Delegate:
        graph = Delegate()
        n, _, _, c = self.sizes
        x = graph.static(*self.sizes)
        y = graph.static(*((n, c) if self.flat else (n, 1, 1, c)), scale=0.013)
        graph.inputs, graph.outputs = [x], [y]
        flags = 0 if self.flat else _KEEP_DIMS
        graph.node("GlobalAvgPooling2d", input_id=x, output_id=y, flags=flags)
        return graph


@dataclass(frozen=True)
class Transpose:
    """Dimensions in another order."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    form: str = "s8"  # f32

    @property
    def title(self) -> str:
        parts = (self.sizes, self.order)
        shape = "_".join("x".join(map(str, each)) for each in parts)
        return f"Transpose_{self.form}_{shape}"

    def built(self) -> Delegate:
        graph = Delegate()
        make = graph.static if self.form == "s8" else graph.floats
        x = make(*self.sizes)
        y = make(*(self.sizes[i] for i in self.order))
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            "StaticTranspose",
            num_dims=len(self.order),
            perm=list(self.order),
            input_id=x,
            output_id=y,
        )
        return graph
