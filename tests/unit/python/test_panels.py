# SPDX-License-Identifier: Apache-2.0
"""Weights in panels for Hexagon's vectors: programs give the same bits."""

from __future__ import annotations

from dataclasses import replace

import cadence_panel_programs as cadence
import pytest
from benchmarks.hvx_layers import Convolution
from panel_programs import LAYERS, needs, packed
from row_networks import mobilenet_v1
from row_programs import Network, random_network
from small_programs import KNOWN, here

from ember import boards, program
from ember.model import Model
from ember.plan.passes.execute import Executable, Verdict, compare, scenarios
from ember.program import Method, Program, types
from ember.select import panel_layers, prepack
from ember.select.rules import Rules

DEPTHWISE = "cortex_m::quantized_depthwise_conv2d.out"


def panel_calls(method: Method) -> list[types.KernelCall]:
    names = {operator.full_name for operator, _ in prepack.KERNELS.values()}
    names |= {panel_layers.CONV.full_name, panel_layers.DEPTHWISE.full_name}
    return [call for _, name, call in method.kernel_calls() if name in names]


def verdict(model: Model, after: Program) -> Verdict:
    old = Executable(model.program, model.content)
    return compare(here(), old, Executable.of(after), scenarios(model))


def test_random_networks_give_the_same_bits() -> None:
    count = 0
    for seed in range(24):
        model = random_network(seed)
        after = prepack.with_panels(
            model.program, needs(model.program), prepack.KERNELS, KNOWN
        )
        if after is not None:
            count += len(panel_calls(after.methods[0]))
            assert verdict(model, after) == "same", seed
    assert count >= 20


def test_a_network_keeps_no_weights_beside_its_panels() -> None:
    model = mobilenet_v1(0.25, 32)
    after = packed(model.program)
    assert verdict(model, after) == "same"
    method = after.methods[0]
    names = [name for _, name, _ in method.kernel_calls()]
    # The first layer may become a matrix, which its kernel decides.
    assert names.count("cortex_m::quantized_conv2d.out") == 1
    assert len(panel_calls(method)) == 26
    before = {bytes(constant) for constant in model.program.constants}
    gone = before - {bytes(constant) for constant in after.constants}
    assert len(gone) >= 4 * 26


@pytest.mark.parametrize(
    ("name", "merged"),
    [("merged", 5), ("merged_stride", 2), ("two_panels", 1), ("filled", 1)],
)
def test_filters_that_do_not_fill_a_vector_share_it(name: str, merged: int) -> None:
    method = packed(LAYERS[name].model.program).methods[0]
    (call,) = panel_calls(method)
    assert method.values[call.args[10]] == types.Int(merged)


@pytest.mark.parametrize(
    ("name", "period", "sharing"),
    [("depthwise_shared", 128, 2), ("depthwise_5x5", 256, 1)],
)
def test_channels_repeat_until_vectors_are_filled(
    name: str, period: int, sharing: int
) -> None:
    method = packed(LAYERS[name].model.program).methods[0]
    (call,) = panel_calls(method)
    layout = [method.values[index] for index in call.args[10:12]]
    assert layout == [types.Int(period), types.Int(sharing)]


def test_panels_lie_at_multiples_of_a_vector() -> None:
    model = mobilenet_v1(0.25, 32)
    content = program.write(packed(model.program))
    read = program.parse(content, "made")
    large = [bytes(constant) for constant in read.constants if len(constant) >= 1000]
    assert len(large) >= 13
    assert {content.index(constant) % panel_layers.ALIGN for constant in large} == {0}


def test_an_operator_that_is_pinned_stays() -> None:
    rules = Rules(pins={DEPTHWISE: "quantized_depthwise_conv2d_hvx"})
    board = boards.load("hexagon-v68")
    left = prepack.panel_kernels(rules.allowed(board), rules.pins)
    assert left == {"quantized_conv2d_hvx", *panel_layers.KERNELS}
    none = boards.load("mps3-an547")
    assert prepack.panel_kernels(Rules().allowed(none), {}) == set()
    model = mobilenet_v1(0.25, 32)
    after = prepack.with_panels(model.program, needs(model.program), left, KNOWN)
    assert after is not None
    assert len(panel_calls(after.methods[0])) == 13
    names = [name for _, name, _ in after.methods[0].kernel_calls()]
    assert names.count(DEPTHWISE) == 13


def test_weights_that_another_call_reads_stay() -> None:
    net = Network(5, (1, 8, 6, 6))
    net.conv(net.input, 8, 3)
    weights = net.calls[0].args[1]  # type: ignore[union-attr]
    other = net.conv(net.input, 8, 3, stride=2)
    second = net.calls[1]
    assert isinstance(second, types.KernelCall)
    args = (second.args[0], weights, *second.args[2:])
    net.calls[1] = replace(second, args=args)
    model = net.model(net.calls[0].args[-1], other)  # type: ignore[union-attr]
    both = prepack.with_panels(
        model.program, needs(model.program), prepack.KERNELS, KNOWN
    )
    assert both is not None
    assert len(panel_calls(both.methods[0])) == 2
    (need,) = needs(model.program)
    single = replace(need, calls=need.calls[:1])
    assert prepack.with_panels(model.program, [single], prepack.KERNELS, KNOWN) is None


def test_calls_that_may_change_stay() -> None:
    model = LAYERS["direct"].model
    (need,) = needs(model.program)
    calls = tuple(replace(call, volatile=True) for call in need.calls)
    assert (
        prepack.with_panels(
            model.program, [replace(need, calls=calls)], prepack.KERNELS, KNOWN
        )
        is None
    )


@pytest.mark.parametrize("kind", ["short", "layout", "scale"])
@pytest.mark.parametrize("name", ["direct", "depthwise"])
def test_panels_that_do_not_fit_are_refused(name: str, kind: str) -> None:
    model = LAYERS[name].model
    after = packed(model.program)
    (method,) = after.methods
    (call,) = panel_calls(method)
    values, constants = list(method.values), list(after.constants)
    tensor = values[call.args[1]]
    assert isinstance(tensor, types.Tensor)
    content = bytearray(constants[tensor.data_index])
    if kind == "short":
        size = tensor.numel - panel_layers.ALIGN
        values[call.args[1]] = replace(tensor, sizes=(size,))
        del content[size:]
    elif kind == "layout":
        values[call.args[10]] = types.Int(2)
    else:  # the shift of the first filter
        period = values[call.args[10]]
        assert isinstance(period, types.Int)
        # Five numbers of 4 bytes for each weight of a tap are last.
        numbers = tensor.numel - 20 * period.value if name == "depthwise" else 0
        at = numbers + 2 * panel_layers.ALIGN
        content[at : at + 4] = (1).to_bytes(4, "little")
    constants[tensor.data_index] = bytes(content)
    damaged = replace(
        after,
        methods=(replace(method, values=tuple(values)),),
        constants=tuple(constants),
    )
    assert verdict(model, damaged) == "different"


# ---- Cadence's dialect ---------------------------------------------------------------


@pytest.mark.parametrize("name", cadence.LAYERS)
def test_layers_of_cadence_give_the_same_bits(name: str) -> None:
    layer = cadence.LAYERS[name]
    after = cadence.packed(layer)
    assert after is not None
    assert verdict(layer.model, after) == "same"
    (call,) = panel_calls(after.methods[0])
    assert after.methods[0].values[call.args[-3]] == types.Bool(layer.last)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    "left", [Convolution(24, 36, 6, 6, groups=3), Convolution(3, 16, 10, 10)]
)
def test_groups_and_short_rows_of_cadence_stay(left: Convolution, last: bool) -> None:
    assert cadence.packed(cadence.Layer(left, last)) is None


def test_an_operator_of_cadence_that_is_pinned_stays() -> None:
    pins = {"cadence::quantized_conv2d_nhwc.per_tensor_out": "cadence_conv_nhwc"}
    allowed = Rules().allowed(boards.load("hexagon-v68"))
    assert panel_layers.kernels(allowed, pins) == set()
    assert panel_layers.kernels(allowed, {}) == set(panel_layers.KERNELS)


@pytest.mark.parametrize("index", [8, 9])
@pytest.mark.parametrize("name", ["merged_last", "depthwise_first"])
def test_scales_of_cadence_that_do_not_fit_are_refused(name: str, index: int) -> None:
    layer = cadence.LAYERS[name]
    after = cadence.packed(layer)
    assert after is not None
    (method,) = after.methods
    (call,) = panel_calls(method)
    values = list(method.values)
    values[call.args[index]] = types.Double(0.0)
    wrong = replace(after, methods=(replace(method, values=tuple(values)),))
    assert verdict(layer.model, wrong) != "same"
