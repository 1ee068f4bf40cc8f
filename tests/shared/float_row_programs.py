# SPDX-License-Identifier: Apache-2.0
"""Small float32 networks of ATen's operators with random weights, made here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from row_programs import ORDER, Network

from ember.files.tensors import DType
from ember.model import Model
from ember.program import types

PLANES = (0, 1, 2, 3)


class FloatNetwork(Network):
    """As exporters make them: channels in planes, or channels last."""

    def __init__(
        self, seed: int, sizes: Sequence[int], order: tuple[int, ...] = PLANES
    ):
        self.order = order
        super().__init__(seed, sizes, DType.FLOAT32)

    def like(self, x: int, sizes: Sequence[int] | None = None) -> int:
        return self.image(sizes or self.sizes(x), DType.FLOAT32)

    def floats(self, *sizes: int) -> int:
        """A constant; of rank 4 as the images lie."""
        array = self.random.standard_normal(sizes).astype(np.float32)
        value = self.constant(
            np.ascontiguousarray(
                array.transpose(self.order if len(sizes) == 4 else (0,))
            )
        )
        tensor = self.values[value]
        assert isinstance(tensor, types.Tensor)
        if len(sizes) == 4:
            self.values[value] = types.Tensor(
                DType.FLOAT32, sizes, self.order, data_index=tensor.data_index
            )
        return value

    def aten(self, name: str, *args: int) -> int:
        return self.call(f"aten::{name}", *args)

    # ---- layers ------------------------------------------------------------------

    def conv(
        self, x: int, filters: int, kernel: int = 3, stride: int = 1,
        padding: int | None = None, dilation: int = 1, depthwise: bool = False,
    ) -> int:  # fmt: skip
        _, channels, *sides = self.sizes(x)
        padding = dilation * (kernel - 1) // 2 if padding is None else padding
        reach = dilation * (kernel - 1) + 1
        out = [(side + 2 * padding - reach) // stride + 1 for side in sides]
        groups = channels if depthwise else 1
        filters = channels if depthwise else filters
        return self.aten(
            "convolution", x,
            self.floats(filters, channels // groups, kernel, kernel),
            self.floats(filters),
            *(self.ints(n, n) for n in (stride, padding, dilation)),
            self.add(types.Bool(False)), self.ints(0, 0), self.number(groups),
            self.like(x, (1, filters, *out)),
        )  # fmt: skip

    def turned(
        self, x: int, filters: int, kernel: int = 2, stride: int = 2, padding: int = 0,
        added: int = 0,
    ) -> int:  # fmt: skip
        _, channels, *sides = self.sizes(x)
        out = [(n - 1) * stride - 2 * padding + kernel + added for n in sides]
        return self.aten(
            "convolution", x,
            self.floats(channels, filters, kernel, kernel), self.floats(filters),
            *(self.ints(n, n) for n in (stride, padding, 1)),
            self.add(types.Bool(True)), self.ints(added, added), self.number(1),
            self.like(x, (1, filters, *out)),
        )  # fmt: skip

    def norm(self, x: int) -> int:
        channels = self.sizes(x)[1]
        self.constants.append(self.random.random(channels, np.float32).tobytes())
        data = len(self.constants) - 1
        spread = self.add(types.Tensor(DType.FLOAT32, (channels,), (0,), data))
        numbers = (self.add(types.Double(n)) for n in (0.1, 1e-5))
        y = self.like(x)
        empty = [self._empty() for _ in range(2)]
        self.call(
            "aten::_native_batch_norm_legit_no_training", x,
            *(self.floats(channels) for _ in range(3)), spread, *numbers,
            y, *empty, self.add(types.TensorList((y, *empty))),
        )  # fmt: skip
        self._without_copy_of_the_list()
        return y

    def _empty(self) -> int:
        place = types.Allocation(1, self.end)
        return self.add(types.Tensor(DType.FLOAT32, (0,), (0,), allocation=place))

    def _without_copy_of_the_list(self) -> None:
        """Of several results, the list of them is the last argument, once."""
        last = self.calls[-1]
        assert isinstance(last, types.KernelCall)
        self.calls[-1] = types.KernelCall(last.op_index, last.args[:-1])

    def relu(self, x: int) -> int:
        return self.aten("relu", x, self.like(x))

    def plus(self, a: int, b: int) -> int:
        return self.aten("add", a, b, self.number(1), self.like(a))

    def times(self, x: int) -> int:
        """A number for each channel."""
        return self.aten("mul", x, self.floats(1, self.sizes(x)[1], 1, 1), self.like(x))

    def max_pool(
        self,
        x: int,
        kernel: int = 2,
        stride: int = 2,
        padding: int = 0,
        *,
        ceil: bool = False,
    ) -> int:
        y = self.like(x, self.pooled(x, kernel, stride, padding, ceil=ceil))
        indices = self.image(self.sizes(y), DType.INT64)
        self.call(
            "aten::max_pool2d_with_indices", x, *self._window(kernel, stride, padding),
            self.ints(1, 1), self.add(types.Bool(ceil)), y, indices,
            self.add(types.TensorList((y, indices))),
        )  # fmt: skip
        self._without_copy_of_the_list()
        return y

    def avg_pool(
        self,
        x: int,
        kernel: int = 2,
        stride: int = 2,
        padding: int = 0,
        *,
        ceil: bool = False,
    ) -> int:
        y = self.like(x, self.pooled(x, kernel, stride, padding, ceil=ceil))
        return self.aten(
            "avg_pool2d", x, *self._window(kernel, stride, padding),
            self.add(types.Bool(ceil)), self.add(types.Bool(True)),
            self.add(types.Null()), y,
        )  # fmt: skip

    def cat(self, *images: int) -> int:
        n, _, *sides = self.sizes(images[0])
        channels = sum(self.sizes(image)[1] for image in images)
        y = self.like(images[0], (n, channels, *sides))
        listed = self.add(types.TensorList(images))
        return self.aten("cat", listed, self.number(1), y)

    def larger(self, x: int, factor: int = 2) -> int:
        """Each pixel as often as the factor says, in both directions."""
        factors = self.add(types.DoubleList((float(factor), float(factor))))
        return self._resized(
            x, "upsample_nearest2d", factor, self.add(types.Null()), factors
        )

    def smoother(
        self, x: int, factor: int = 2, *, aligned: bool = False, scaled: bool = True
    ) -> int:
        """Mixed of the nearest four pixels; not `scaled`: with the size in the call."""
        _, _, h, w = self.sizes(x)
        factors = self.add(types.DoubleList((float(factor), float(factor))))
        none = self.add(types.Null())
        sizes = none if scaled else self.ints(h * factor, w * factor)
        given = sizes, self.add(types.Bool(aligned)), factors if scaled else none
        return self._resized(x, "upsample_bilinear2d", factor, *given)

    def _resized(self, x: int, name: str, factor: int, *given: int) -> int:
        n, c, h, w = self.sizes(x)
        y = self.like(x, (n, c, h * factor, w * factor))
        operator = types.Operator(f"aten::{name}", "vec_out")
        if operator not in self.operators:
            self.operators.append(operator)
        number = self.operators.index(operator)
        self.calls.append(types.KernelCall(number, (x, *given, y, y)))
        return y


def random_floats(seed: int) -> Model:
    """A chain of a few layers with branches that come together again; every third one
    has its channels last."""
    random = np.random.default_rng(seed)
    side = int(random.integers(9, 20))
    channels = int(random.choice([1, 3, 4]))
    order = ORDER if seed % 3 == 2 else PLANES
    size = (1, channels, side, side + int(random.integers(4)))
    net = FloatNetwork(seed, size, order)
    x = net.input
    for _ in range(int(random.integers(3, 7))):
        x = _layer(net, random, x)
    return net.model(net.relu(x))


def _layer(net: FloatNetwork, random: np.random.Generator, x: int) -> int:
    _, _, height, width = net.sizes(x)
    filters, stride = int(random.choice([2, 4, 5, 8])), int(random.choice([1, 2]))
    kinds = {
        "conv": lambda: net.conv(x, filters, 3, stride),
        "wide": lambda: net.conv(x, filters, 3, stride, dilation=2),
        "depthwise": lambda: net.conv(x, 0, 3, stride, depthwise=True),
        "norm": lambda: net.relu(net.norm(net.conv(x, filters, 3, stride))),
        "block": lambda: _block(net, x, filters, stride),
        "inception": lambda: _inception(net, x, filters),
        "times": lambda: net.times(x),
    }
    if min(height, width) >= 4:
        pool = net.max_pool if random.integers(2) else net.avg_pool
        kernel, padding = int(random.choice([2, 3])), int(random.integers(2))
        kinds["pool"] = lambda: pool(x, kernel, stride, padding)
    if height * width < 400:
        turn = np.asarray(random.choice([(2, 2, 0, 0), (3, 2, 1, 1)])).tolist()
        kinds["turn"] = lambda: net.turned(x, filters, *turn)
        resized = net.smoother if random.integers(2) else net.larger
        kinds["larger"] = lambda: resized(x)
    return kinds[str(random.choice([*kinds]))]()


def _block(net: FloatNetwork, x: int, filters: int, stride: int) -> int:
    y = net.norm(net.conv(net.relu(net.conv(x, filters, 3, stride)), filters))
    return net.plus(y, net.conv(x, filters, 1, stride))


def _inception(net: FloatNetwork, x: int, filters: int) -> int:
    parts = [net.conv(x, filters, 1), net.conv(net.conv(x, 4, 1), filters, 3)]
    return net.cat(*parts, net.max_pool(x, 3, 1, 1))


def residual_floats(width: int = 16, side: int = 32) -> Model:
    """The layers of ResNet8."""
    net = FloatNetwork(2, (1, 3, side, side))
    x = net.relu(net.norm(net.conv(net.input, width)))
    for filters, stride in ((width, 1), (2 * width, 2), (4 * width, 2)):
        y = net.relu(net.norm(net.conv(x, filters, 3, stride)))
        y = net.norm(net.conv(y, filters))
        same = stride == 1
        x = net.relu(net.plus(y, x if same else net.conv(x, filters, 1, stride)))
    return net.model(net.avg_pool(x, side // 4, 1))
