# SPDX-License-Identifier: Apache-2.0
"""Programs lowered to XNNPACK whose numbers or shapes few networks have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as PyTorch's users call it

from corpus.case import Case, Exported
from corpus.inputs import channels_last, f32
from corpus.modules import Apply, Net
from corpus.xnnpack import exported, lowered
from corpus.xnnpack_layers import HALF_STEP, NEAR, NEAR_HALF
from corpus.xnnpack_static import Scale, Stored


def long_groups(group: int) -> Exported:
    """Sums of int4 in groups that are rounded, in XNNPACK's order: weights that point
    one way, rows that do, too."""
    k = 1024
    layer = nn.Linear(k, 3)
    layer.weight.data = torch.ones(3, k) - 0.3 * torch.rand(3, k)
    layer.weight.data[1, ::2] *= -1
    rows = torch.stack([-torch.rand(k) - 1, torch.randn(k) + 1])
    return exported(layer, (rows,), form=f"int4_{group}")


def evened(layer: nn.Linear) -> nn.Module:
    """A linear layer with one more input, which is zero, as is its weight."""
    wider = nn.Linear(layer.in_features + 1, layer.out_features)
    wider.weight.data = F.pad(layer.weight.data, (0, 1))
    wider.bias.data = layer.bias.data
    return Net(lambda m, x: m.layer(F.pad(x, (0, 1))), layer=wider)


def odd_rows(count: int, *lengths: int) -> Exported:
    """Layers of int4 with a scale per channel, whose columns end in half a byte.
    XNNPACK reads a number past the end of such rows, and the next one from there on;
    so what is expected are its outputs of layers to which that number belongs."""
    layers = [nn.Linear(k, n) for k, n in pairwise(lengths)]
    rows = (torch.randn(count, lengths[0]),)
    expected = exported(nn.Sequential(*map(evened, layers)), rows, form="int4")
    return replace(expected, files=lowered(nn.Sequential(*layers), rows, "int4"))


def cancelling(group: int, count: int) -> Exported:
    """Sums of int4 in groups that become float16: terms are large and cancel, so what
    is left is what was rounded in XNNPACK's four sums, and where these were added. Rows
    are integer multiples of their scales; the second one's zero point is not 0."""
    k, columns = 1024, 10
    scales = (torch.rand(columns, 16) - torch.randint(0, 4, (columns, 16))).exp2()
    weights = 1 - 0.4 * torch.rand(columns, k // 2)
    weights[1::2] = weights[1::2, ::8].repeat_interleave(8, 1)
    weights[::4, 1::2] *= -1
    weights[:, :8] = 1
    weights *= scales.repeat_interleave(32, 1)
    numbers = torch.randint(1, 11, (count, k // 16)) * 10.0
    pairs = torch.tensor([1, -0.3, -0.9, 0.2]).repeat_interleave(2)
    rows = torch.cat([numbers.repeat(1, 8), -numbers.repeat(1, 8)], 1)
    rows[2::3] = (numbers[2::3].repeat(1, 2)[:, :, None] * pairs).flatten(1)
    rows[1::3] = (rows[1::3] / 4).trunc()
    rows[:, :8] = 0
    rows[:, k // 2 : k // 2 + 8] = 0
    rows[:, :3] = torch.tensor([127.0, -128.0, 1.0])
    rows[1::3, :3] = torch.tensor([155.0, -100.0, -55.0])
    layer = nn.Linear(k, columns)
    layer.weight.data = torch.cat([weights, weights], 1)
    return exported(layer.half(), (rows.half(),), form=f"int4_{group}")


def few_rounded(group: int) -> Exported:
    """Sums of int4 in groups: those of two columns are rounded in all rows, as their
    weights point one way, and another one's in the row that is like its weights."""
    k = 1024
    layer = nn.Linear(k, 32)
    layer.weight.data = torch.randn(32, k)
    layer.weight.data[[3, 17]] = torch.ones(2, k) - 0.3 * torch.rand(2, k)
    rows = torch.randn(5, k)
    rows[1] = layer.weight.data[9]
    return exported(layer, (rows,), form=f"int4_{group}")


def cancelled_by_bias() -> Exported:
    """A row to float16 by int4 in groups, whose biases are minus what was there before:
    left is what XNNPACK rounded before that, or with it."""
    layer, row = nn.Linear(64, 40).half(), torch.randn(1, 64).half()
    layer.bias.data[:] = 0
    before = exported(layer, (row,), form="int4_32").runs[0].outputs[0]
    layer.bias.data = -before.flatten()
    return exported(layer, (row,), form="int4_32")


def small_halves() -> Exported:
    """Rows of float16 that are quantised at run time, near zero: the factor that
    brings them to int8 is past float16's numbers. And an ordinary row."""
    rows = torch.randn(4, 8)
    rows[0] *= 1e-3
    rows[1] = rows[1].abs() * 2e-4
    rows[2] *= 1e-7
    layer = nn.Linear(8, 6).half()
    return exported(layer, (rows.half(),), form="dynamic", **HALF_STEP)


def halved(
    half: bool, module: nn.Module, inputs: tuple[torch.Tensor, ...], **near: Any
) -> Exported:
    """The module on these inputs, both in float16 if `half`."""
    if half:
        module, inputs = module.half(), tuple(x.half() for x in inputs)
    return exported(module, inputs, **near)


def not_numbers(form: str, half: bool = False) -> Exported:
    """A row with NaN, and one with an infinity, that are quantised at run time: what
    the wheel makes of them depends on their addresses, so NaN is expected. The rows
    between have the wheel's results."""
    layer = nn.Linear(32, 5)
    rows = torch.randn(4, 32)
    rows[1], rows[3] = 0, 0
    rows = rows.half() if half else rows
    case = halved(half, layer, (rows,), form=form, **(HALF_STEP if half else {}))
    (run,) = case.runs
    for row, number in ((1, torch.nan), (3, torch.inf)):
        rows[row, ::7] = torch.randn(5)
        rows[row, 4 + row] = number
        run.outputs[0][row] = torch.nan
    return replace(case, runs=[replace(run, inputs=[rows])])


def one_pixel(inputs: int, outputs: int, size: int, form: str = "float") -> Exported:
    """A convolution of images, channels last, that have one pixel or one channel: their
    dimensions may be stated in several orders in memory. ExecuTorch's own runtime
    refuses some of these, so the outputs are PyTorch's."""
    layer = nn.Conv2d(inputs, outputs, 1 if size == 1 else 3)
    image = channels_last(f32(2, inputs, size, size))
    samples = [(image(),) for _ in range(2)]
    near = NEAR if form == "float" else {"rtol": 1e-2, "atol": 4e-2}
    return exported(layer, *samples, form=form, eager=True, **near)


def taps(height: int, width: int, half: bool) -> Exported:
    """A depthwise convolution: XNNPACK adds taps in an order that depends on how many
    there are."""
    layer = nn.Conv2d(11, 11, (height, width), (1, 2), 2, groups=11)
    return halved(half, layer, (torch.randn(1, 11, 9, 12),))


def of_elements(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Element-wise nodes of one number and of two, whose rows have an odd length; the
    second operand is broadcast."""
    size = x.abs()
    outputs = [size, x.ceil(), x.floor(), -x, x.square(), size.sqrt()]
    outputs += [(size + 0.25).rsqrt(), x.exp(), x.sigmoid(), x.tanh()]
    outputs += [F.gelu(x), F.hardswish(x), x.clamp(-0.5, 0.75), x.softmax(-1)]
    two = [x + y, x - y, x * y, x / (y.abs() + 0.5), y - x, F.relu(y + x)]
    two += [torch.maximum(x, y), torch.minimum(y, x), F.prelu(x, y[0, :, 0, 0])]
    return *outputs, *two


def elements(half: bool) -> Exported:
    x, y = 2 * torch.randn(1, 3, 3, 7), torch.randn(1, 3, 1, 1)
    x[0, 0, 0, :4] = torch.tensor([0.0, -0.0, 60.0, -60.0])
    return halved(half, Apply(of_elements), (x, y), **(NEAR_HALF if half else NEAR))


def turned(half: bool) -> Exported:
    """Matrices turned over: images of three colours, and of more channels and pixels
    than whole vectors have."""

    def turns(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.permute(0, 2, 3, 1), y.permute(0, 2, 3, 1), y.permute(0, 3, 1, 2)

    images = torch.randn(1, 3, 5, 7), torch.randn(2, 13, 5, 7)
    return halved(half, Apply(turns), images)


def of_images(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What is computed of pixels beside convolutions: means, and pixels in between."""
    means = [
        F.avg_pool2d(x, size, 2, size // 2, count_include_pad=False)
        for size in (3, 4, 5)
    ]
    wide = F.interpolate(x, size=(5, 101), mode="bilinear")
    corners = F.interpolate(x, size=(2, 47), mode="bilinear", align_corners=True)
    return (*means, x.mean((2, 3), keepdim=True), wide, corners)


def bends(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Functions of one number that are exact but for roundings."""
    return F.hardswish(x), F.hardsigmoid(x), F.leaky_relu(x, 0.1)


def in_steps(function: Callable[..., Any], half: bool) -> Exported:
    """Nodes whose numbers follow from when XNNPACK rounds: the wheel's bits."""
    return halved(half, Apply(function), (3 * torch.randn(1, 2, 7, 60),))


def ties() -> Exported:
    """All int8 through a bound to int8 of twice the scale: every other one is halfway
    between two, and its zero point is odd."""
    layer = Stored(torch.relu, [Scale(0.25, 0)], Scale(0.5, 3))
    return exported(layer, ((torch.arange(-128, 128) / 4).reshape(4, 64),))


def bounds(low: float, high: float) -> Exported:
    """All int8 through bounds that lie between their numbers; the scale stays."""
    same = Scale(0.019, -21)
    layer = Stored(lambda x: torch.clamp(x, low, high), [same], same)
    return exported(layer, (torch.arange(-128, 128).reshape(4, 64) * same.scale,))


def means() -> Exported:
    """Means of images of int8, many of them halfway between two."""
    layer = Stored(
        lambda x: F.adaptive_avg_pool2d(x, 1), [Scale(0.02, 3)], Scale(0.005, -7)
    )
    return exported(layer, (1.2 * torch.randn(1, 96, 7, 8),))


def in_both(
    name: str, make: Callable[[bool], Exported]
) -> dict[str, Callable[[], Exported]]:
    return {f"{name}_f32": partial(make, False), f"{name}_f16": partial(make, True)}


RARE: dict[str, Callable[[], Exported]] = {
    "int4_odd": lambda: odd_rows(5, 63, 9, 31, 5, 3, 1, 10),
    "int4_odd_one": lambda: odd_rows(1, 63, 9, 31, 5, 3, 1, 10),
    "int4_odd_long": lambda: odd_rows(9, 257, 33),
    "bounds": lambda: bounds(-0.5, 0.75),
    "bounds_past": lambda: bounds(-9.0, 1.1),
    "means_static": means,
    "ties": ties,
    **in_both("elements", elements),
    **in_both("turned", turned),
    "int4_32_long": lambda: long_groups(32),
    "int4_128_long": lambda: long_groups(128),
    "int4_32_f16_cancelling": lambda: cancelling(32, 7),
    "int4_128_f16_cancelling": lambda: cancelling(128, 1),
    "int4_32_few": lambda: few_rounded(32),
    "int4_32_f16_bias": cancelled_by_bias,
    "qd8_f16_small": small_halves,
    "qd8_nan": lambda: not_numbers("dynamic"),
    "qd8_nan_int4": lambda: not_numbers("int4_32"),
    "qd8_nan_f16": lambda: not_numbers("dynamic", half=True),
    "taps_f32": lambda: taps(3, 5, half=False),
    "taps_f32_many": lambda: taps(7, 5, half=False),
    "taps_f16": lambda: taps(3, 2, half=True),
    "taps_f16_twice": lambda: taps(4, 5, half=True),
    "taps_f16_many": lambda: taps(7, 5, half=True),
    **in_both("images", partial(in_steps, of_images)),
    **in_both("bends", partial(in_steps, bends)),
    "one_pixel": lambda: one_pixel(8, 5, 1),
    "one_pixel_static": lambda: one_pixel(8, 5, 1, "static"),
    "one_channel_in": lambda: one_pixel(1, 5, 6),
    "one_channel_out": lambda: one_pixel(4, 1, 6),
}
CASES = [Case(f"xnnpack_rare_{name}", build) for name, build in RARE.items()]
