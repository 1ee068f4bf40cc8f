# SPDX-License-Identifier: Apache-2.0
"""The pass channels: images between convolutions have their channels innermost."""

from __future__ import annotations

from collections import Counter

from benchmarks.hvx_layers import Convolution
from channel_programs import Network
from small_programs import KNOWN, names_of

from ember.files.tensors import DType
from ember.firmware.repack import repack
from ember.model import Model

PASSES = ("channels", "view")
PERMUTE = "aten::permute_copy.out"
WIDE, NARROW = Convolution(8, 32, 8, 8), Convolution(32, 4, 8, 8)


def operators_after(source: Model, status: str = "used") -> Counter[str]:
    """Of a model after the pass, whose results the pass checker compared."""
    packed = repack(source, KNOWN, PASSES)
    assert packed.passes[0].status == status
    names = names_of(packed.program.methods[0])
    return Counter(name.removeprefix("cadence::") for name in names)


def test_a_chain_is_turned_at_its_ends() -> None:
    net = Network()
    x = net.input(1, 8, 8, 8)
    first = net.relu(net.convolution(x, Convolution(8, 8, 8, 8)))
    second = net.convolution(first, Convolution(8, 8, 8, 8, depthwise=True))
    pooled = net.pool(net.add_images(first, second))
    y = net.convolution(pooled, Convolution(8, 8, 4, 4))
    assert operators_after(net.model([x], y)) == {
        PERMUTE: 2,
        "quantized_conv2d_nhwc.per_tensor_out": 2,
        "quantized_conv2d_nhwc_depthwise_asym8sxsym8s_asym8s.per_tensor_out": 1,
        "quantized_relu.per_tensor_out": 1,
        "quantized_add.per_tensor_out": 1,
        "quantized_max_pool2d_nhwc.out": 1,
    }


def test_numbers_are_turned_where_they_are_short() -> None:
    """Behind the call that makes int8 of float32."""
    net = Network()
    x = net.input(1, 3, 8, 8, dtype=DType.FLOAT32)
    hidden = net.convolution(net.quantize(x), Convolution(3, 8, 8, 8))
    y = net.convolution(hidden, Convolution(8, 4, 8, 8))
    packed = repack(net.model([x], y), KNOWN, PASSES)
    names = names_of(packed.program.methods[0])
    assert names[:2] == ["cadence::quantize_per_tensor.out", PERMUTE]
    assert names.count(PERMUTE) == 2


def test_an_image_of_one_channel_is_not_turned() -> None:
    net = Network()
    x = net.input(1, 1, 8, 8)
    hidden = net.convolution(net.relu(x), Convolution(1, 8, 8, 8))
    y = net.convolution(hidden, Convolution(8, 1, 8, 8))
    assert operators_after(net.model([x], y))[PERMUTE] <= 1


def test_joined_images_stay_turned() -> None:
    net = Network()
    x = net.input(1, 8, 8, 8)
    parts = [net.convolution(x, Convolution(8, size, 8, 8)) for size in (4, 8)]
    y = net.convolution(net.joined(*parts), Convolution(12, 4, 8, 8))
    after = operators_after(net.model([x], y))
    assert after[PERMUTE] == 2
    assert after["quantized_conv2d_nhwc.per_tensor_out"] == 3


def test_who_reads_channels_first_gets_them() -> None:
    """By a view at the same place, and as an output beside it."""
    net = Network()
    x = net.input(1, 8, 8, 8)
    hidden = net.convolution(net.relu(net.convolution(x, WIDE)), NARROW)
    last = net.convolution(hidden, Convolution(4, 4, 8, 8))
    after = operators_after(net.model([x], hidden, net.relu(net.flat(last))))
    assert after["quantized_conv2d_nhwc.per_tensor_out"] == 3
    assert after[PERMUTE] == 3


def test_sums_that_leave_24_bits_keep_their_order() -> None:
    net = Network()
    x = net.input(1, 600, 6, 6)
    hidden = net.convolution(x, Convolution(600, 600, 6, 6))
    y = net.convolution(hidden, Convolution(600, 8, 6, 6))
    assert PERMUTE not in operators_after(net.model([x], y), "idle")


def test_a_layer_alone_that_turns_no_weights_stays() -> None:
    net = Network()
    x = net.input(1, 8, 8, 8)
    y = net.convolution(x, Convolution(8, 8, 8, 8, kernel=1))
    assert PERMUTE not in operators_after(net.model([x], y), "idle")
