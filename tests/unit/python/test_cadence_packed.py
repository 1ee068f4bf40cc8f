# SPDX-License-Identifier: Apache-2.0
"""Convolutions of Cadence's dialect are packed for DSP instructions, with the same
bits."""

from __future__ import annotations

from dataclasses import replace

import cadence_packed_programs as cadence
import pytest
from benchmarks.hvx_layers import Convolution
from cadence_panel_programs import Layer
from small_programs import here

from ember import boards
from ember.firmware import jobs
from ember.firmware.pipeline import Pipeline
from ember.plan.passes.execute import Executable, Verdict, compare, scenarios
from ember.program import KernelCall, Program, types
from ember.select import packed
from ember.select.rules import Rules

_W, _BIAS, _SCALE, _LAST = 1, 2, 8, 10  # arguments


def call_of(program: Program) -> KernelCall:
    ((_, name, call),) = program.methods[0].kernel_calls()
    assert name == packed.CONV.full_name
    return call


def verdict(layer: Layer, after: Program) -> Verdict:
    old = Executable(layer.model.program, layer.model.content)
    return compare(here(), old, Executable.of(after), scenarios(layer.model))


def with_value(program: Program, index: int, value: types.Value) -> Program:
    """With another value of the call's argument `index`."""
    (method,) = program.methods
    values = list(method.values)
    values[call_of(program).args[index]] = value
    return replace(program, methods=(replace(method, values=tuple(values)),))


@pytest.mark.parametrize("name", cadence.LAYERS)
def test_layers_give_the_same_bits(name: str) -> None:
    layer = cadence.LAYERS[name]
    after = cadence.packed(layer)
    assert after is not None
    assert after.methods[0].values[call_of(after).args[_LAST]] == types.Bool(layer.last)
    assert verdict(layer, after) == "same"


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    "left",
    [
        Convolution(24, 36, 6, 6, groups=3),
        Convolution(8, 8, 6, 6, depthwise=True),
        Convolution(8, 6, 6, 6),  # filters in no fours
        Convolution(8, 8, 9, 9, dilation=2),
        Convolution(1, 8, 6, 6),  # rows of three, which would become twelve
    ],
)
def test_others_stay(left: Convolution, last: bool) -> None:
    assert cadence.packed(Layer(left, last)) is None


def test_weights_are_aligned_to_words_alone() -> None:
    layer = cadence.LAYERS["fours_last"]
    after = cadence.packed(layer)
    assert after is not None
    before = layer.model.program.layout.constant_alignment
    assert after.layout.constant_alignment == max(4, before)


def test_an_operator_that_is_pinned_stays() -> None:
    pins = {"cadence::quantized_conv2d_nhwc.per_tensor_out": "cadence_conv_nhwc"}
    allowed = Rules().allowed(boards.load("mps2-an386"))
    assert packed.kernels(allowed, pins) == set()
    assert packed.kernels(allowed, {}) == set(packed.KERNELS)


def test_a_build_for_a_core_with_dsp_instructions_packs() -> None:
    layer = cadence.LAYERS["fours_first"]
    job = jobs.make([layer.model], boards.load("mps2-an386"), jobs.Options(), None)
    (chosen,) = Pipeline(job).chosen
    call_of(chosen.model.program)


@pytest.mark.parametrize("value", [types.Double(0.0), types.Double(float("inf"))])
def test_scales_that_do_not_fit_are_refused(value: types.Double) -> None:
    layer = cadence.LAYERS["fours_first"]
    after = cadence.packed(layer)
    assert after is not None
    assert verdict(layer, with_value(after, _SCALE, value)) != "same"


@pytest.mark.parametrize("index", [_W, _BIAS])
def test_tensors_of_another_size_are_refused(index: int) -> None:
    layer = cadence.LAYERS["fours_first"]
    after = cadence.packed(layer)
    assert after is not None
    tensor = after.methods[0].values[call_of(after).args[index]]
    assert isinstance(tensor, types.Tensor)
    less = replace(tensor, sizes=(tensor.sizes[0] - 4, *tensor.sizes[1:]))
    assert verdict(layer, with_value(after, index, less)) != "same"
