# SPDX-License-Identifier: Apache-2.0
"""Constants are changed once, and programs give the same bits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from committed_cases import path_of
from row_networks import mobilenet_v1
from row_programs import Network, random_network
from small_programs import KNOWN, here

from ember import model as models
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan.passes import calls
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.program import Method, Program, edit, types


def changed(model: Model) -> Program:
    drafts = calls.weights(edit.draft(model.program), here(), frozenset())
    return drafts[0].program if drafts else model.program


def calls_of(method: Method, name: str) -> list[types.KernelCall]:
    return [call for _, operator, call in method.kernel_calls() if name in operator]


def offsets(method: Method) -> list[int]:
    """What convolutions add to each element of their input."""
    values = (
        method.values[call.args[6]] for call in calls_of(method, "::quantized_conv2d.")
    )
    return [value.value for value in values if isinstance(value, types.Int)]


@pytest.mark.parametrize("seed", range(12))
def test_random_networks_give_the_same_bits(seed: int) -> None:
    model = random_network(seed)
    new = Executable.of(changed(model))
    old = Executable(model.program, model.content)
    assert compare(here(), old, new, scenarios(model)) == "same"


def test_convolutions_without_padding_add_nothing() -> None:
    model = mobilenet_v1(0.25, 32)
    before, after = model.program.methods[0], changed(model).methods[0]
    pointwise = len(calls_of(before, "depthwise"))
    assert 0 not in offsets(before)
    assert offsets(after).count(0) == pointwise
    assert offsets(after)[0] == offsets(before)[0]  # the first one is padded


def test_sums_that_come_near_the_end_of_int32_stay() -> None:
    net = Network(1, (1, 8, 4, 4))
    model = net.model(net.conv(net.input, 8, 1))
    method = model.program.methods[0]
    (call,) = calls_of(method, "conv2d")
    bias = method.values[call.args[2]]
    assert isinstance(bias, types.Tensor)
    constants = list(model.program.constants)
    constants[bias.data_index] = (1 << 30).to_bytes(4, "little") * 8
    large = replace(model.program, constants=tuple(constants))
    assert changed(replace(model, program=large)) == large
    assert changed(model) != model.program


def test_one_channel_that_all_filters_see_is_a_convolution() -> None:
    model = models.read(path_of("int8_ds_cnn_small_m4"))
    before = model.program.methods[0]
    improved = repack(model, KNOWN, ("weights",))
    after = improved.program.methods[0]
    assert [outcome.status for outcome in improved.passes] == ["used"]
    assert len(calls_of(after, "depthwise")) == len(calls_of(before, "depthwise")) - 1
    old = Executable(model.program, model.content)
    new = Executable.of(improved.program)
    assert compare(here(), old, new, scenarios(model)) == "same"
