# SPDX-License-Identifier: Apache-2.0
"""Known networks of the cortex_m dialect in int8, with random weights."""

from __future__ import annotations

from row_programs import Network

from ember.files.tensors import DType
from ember.model import Model


def resnet_like() -> Model:
    net = Network(1, (1, 3, 32, 32))
    x = net.conv(net.input, 16)
    x = net.plus(net.conv(net.conv(x, 16), 16), x)
    y = net.conv(net.conv(x, 32, 3, 2), 32)
    x = net.plus(y, net.conv(x, 32, 1, 2))
    return net.model(net.avg_pool(x, 16, 16))


def resnet8() -> Model:
    """The ResNet of MLPerf Tiny, with an int8 image."""
    net = Network(1, (1, 3, 32, 32))
    x = net.conv(net.input, 16)
    x = net.plus(net.conv(net.conv(x, 16), 16), x)
    for filters in (32, 64):
        y = net.conv(net.conv(x, filters, 3, 2), filters)
        x = net.plus(y, net.conv(x, filters, 1, 2))
    return net.model(net.avg_pool(x, 8, 8))


def inception_like(
    side: int, blocks: int = 3, *, widths: tuple[int, int, int] = (32, 8, 16),
    floats: bool = False, doubled: bool = False, mean: bool = True,
) -> Model:  # fmt: skip
    """Branches side by side, and the mean of it all; `widths` are channels before the
    blocks, and within and at the end of a branch. `doubled`: 3 x 3 twice, not 5 x 5."""
    stem, narrow, filters = widths
    net = Network(1, (1, 3, side, side), DType.FLOAT32 if floats else DType.INT8)
    x = net.quantize(net.input) if floats else net.input
    x = net.max_pool(net.conv(net.conv(x, stem), stem))
    for _ in range(blocks):
        pooled = net.max_pool(x, 3, 1, 1)
        parts = [net.conv(x, filters, 1), net.conv(net.conv(x, narrow, 1), filters)]
        wide = net.conv(net.conv(x, narrow, 1), filters, 3 if doubled else 5)
        parts += [net.conv(wide, filters) if doubled else wide]
        x = net.cat(*parts, net.conv(pooled, filters, 1))
    x = net.avg_pool(x, net.sizes(x)[2], 1) if mean else x
    return net.model(net.dequantize(x) if floats else x)


def mobilenet_v1(alpha: float, side: int, *, floats: bool = False) -> Model:
    net = Network(1, (1, 3, side, side), DType.FLOAT32 if floats else DType.INT8)
    x = net.quantize(net.input) if floats else net.input
    x = net.conv(x, int(32 * alpha), 3, 2)
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
    for filters, stride in [*blocks, *[(512, 1)] * 5, (1024, 2), (1024, 1)]:
        x = net.conv(x, 0, 3, stride, depthwise=True)
        x = net.conv(x, int(filters * alpha), 1)
    return net.model(net.avg_pool(x, net.sizes(x)[2], 1))


def mobilenet_v2(alpha: float, side: int) -> Model:
    net = Network(1, (1, 3, side, side))
    x = net.conv(net.input, _eights(32 * alpha), 3, 2)
    stages = [
        *[(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)],
        *[(6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)],
    ]
    for wider, filters, blocks, first in stages:
        for stride in (first, *[1] * (blocks - 1)):
            channels = net.sizes(x)[1]
            y = net.conv(x, channels * wider, 1) if wider > 1 else x
            y = net.conv(y, 0, 3, stride, depthwise=True)
            y = net.conv(y, _eights(filters * alpha), 1)
            alike = net.sizes(x) == net.sizes(y)
            x = net.plus(x, y) if alike and stride == 1 else y
    x = net.conv(x, max(1280, int(1280 * alpha)), 1)
    return net.model(net.avg_pool(x, net.sizes(x)[2], 1))


def _eights(filters: float) -> int:
    """A multiple of eight, not less than nine tenths."""
    whole = max(8, int(filters + 4) // 8 * 8)
    return whole + 8 if whole < 0.9 * filters else whole


def u_net_like(side: int, *widths: int) -> Model:
    """Two convolutions of each width on the way down and up again."""
    net = Network(1, (1, 3, side, side))
    x = net.input
    passed: list[int] = []
    for width in widths:
        x = net.conv(net.conv(net.max_pool(x) if passed else x, width), width)
        passed.append(x)
    for width, other in zip(widths[-2::-1], passed[-2::-1], strict=True):
        x = net.cat(net.turned(x, width), other)
        x = net.conv(net.conv(x, width), width)
    return net.model(net.conv(x, 1, 1))
