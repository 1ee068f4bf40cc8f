# SPDX-License-Identifier: Apache-2.0
"""Convolutions are packed where kernels read them so, and give the same bits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest
from row_networks import mobilenet_v1, resnet_like
from row_programs import Network
from small_programs import KNOWN, here

from ember import boards
from ember.firmware import jobs
from ember.firmware.pipeline import Pipeline
from ember.model import Model
from ember.plan.passes import Rows
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.plan.replan import trimmed
from ember.program import Program, types
from ember.select import selection
from ember.select.packed import (
    QUADS,
    Form,
    packed_weights,
    transformed,
    with_packed,
)
from ember.select.packed import WINOGRAD as WINOGRAD_FORM
from ember.select.resolve import Call, MethodNeeds
from ember.toolchain.libraries import Optimize

PLAIN, PACKED = "cortex_m::quantized_conv2d.out", "ember::packed_conv2d.out"
WINOGRAD = "ember::winograd_conv2d.out"


def names(program: Program) -> list[str]:
    return [name for _, name, _ in program.methods[0].kernel_calls()]


def packed(program: Program, but: Collection[int] = (), form: Form = QUADS) -> Program:
    """As where the kernel for DSP instructions is chosen for all calls `but` some."""
    calls = tuple(
        Call(index, "quantized_conv2d_dsp", True, 0, 0, False, False, "")
        for index, name, _ in program.methods[0].kernel_calls()
        if name == PLAIN and index not in but
    )
    need = MethodNeeds(0, calls, (), 0, 0, 0, False)
    after = with_packed(program, [need], form, KNOWN)
    return program if after is program else trimmed(after)


def network(filters: int = 8, kernel: int = 3, channels: int = 4) -> Program:
    net = Network(3, (1, channels, 6, 5))
    return net.model(net.conv(net.input, filters, kernel, padding=1)).program


@pytest.mark.parametrize("shape", [(4, 1, 1, 4), (8, 3, 3, 3), (12, 2, 5, 8)])
def test_each_weight_is_once_in_the_packed_ones(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    weights = random.integers(-128, 128, shape, np.int8)
    once_packed = packed_weights(weights)
    assert once_packed is not None
    filters, height, width, depth = once_packed.shape
    pairs = once_packed.view("<i2").astype(int).reshape(filters // 4, -1, 2, 2, 2)
    second = pairs // 256  # rounds down: what is left is the first, and 128
    both = np.stack([pairs - 256 * second - 128, second], -1)
    # (quad, block, even or odd, pair, element of two, filter) -> (filter, element)
    order = both.transpose(0, 3, 5, 1, 4, 2).reshape(filters, height, width * depth)
    row = shape[2] * shape[3]
    np.testing.assert_array_equal(order[:, :, :row].reshape(shape), weights)
    assert not order[:, :, row:].any()


@pytest.mark.parametrize("shape", [(6, 3, 3, 4), (5, 1, 1, 8), (8, 5, 5, 1)])
def test_filters_and_rows_come_in_fours(shape: tuple[int, ...]) -> None:
    assert packed_weights(np.zeros(shape, np.int8)) is None


@pytest.mark.parametrize("model", [mobilenet_v1(0.25, 32), resnet_like()])
def test_networks_give_the_same_bits(model: Model) -> None:
    after = packed(model.program)
    assert PACKED in names(after)
    assert PLAIN not in names(after)
    old, new = Executable(model.program, model.content), Executable.of(after)
    assert compare(here(), old, new, scenarios(model)) == "same"


def test_values_take_the_place_of_plain_weights() -> None:
    before = network()
    after = packed(before)
    assert names(after) == [PACKED]
    assert len(after.methods[0].values) == len(before.methods[0].values)
    sizes = [sum(map(len, version.constants)) for version in (before, after)]
    assert sizes[0] == sizes[1]


def test_weights_that_another_call_reads_plain_stay() -> None:
    net = Network(3, (1, 4, 6, 6))
    x = net.conv(net.conv(net.input, 4), 4)
    model = net.model(x)
    (method,) = model.program.methods
    first, second = [call for _, _, call in method.kernel_calls()]
    shared = replace(second, args=(second.args[0], first.args[1], *second.args[2:]))
    chain = replace(method.chains[0], instructions=(first, shared))
    both = replace(model.program, methods=(replace(method, chains=(chain,)),))
    after = packed(both, but={1})
    assert names(after) == [PACKED, PLAIN]
    old, new = Executable.of(both), Executable.of(after)
    assert compare(here(), old, new, scenarios(model)) == "same"
    tensor = after.methods[0].values[shared.args[1]]
    assert isinstance(tensor, types.Tensor)
    assert after.constants[tensor.data_index] in both.constants


def test_sums_that_are_shifted_little_stay_plain() -> None:
    before = network()
    (call,) = [call for _, _, call in before.methods[0].kernel_calls()]
    shifts = before.methods[0].values[call.args[9]]
    assert isinstance(shifts, types.Tensor)
    constants = list(before.constants)
    constants[shifts.data_index] = np.full(8, -2, np.int32).tobytes()
    little = replace(before, constants=tuple(constants))
    assert packed(little) is little


@pytest.mark.parametrize("by_rows", ["off", "smallest"])
def test_calls_that_run_row_by_row_are_packed_too(by_rows: Rows) -> None:
    options = jobs.Options(rows=by_rows)
    job = jobs.make([resnet_like()], boards.load("mps2-an386"), options, None)
    (chosen,) = Pipeline(job).chosen
    assert chosen.model.has_rows == (by_rows == "smallest")
    assert PACKED in names(chosen.model.program)
    assert PLAIN not in names(chosen.model.program)


@pytest.mark.parametrize(
    ("board", "operator"), [("mps2-an386", PACKED), ("mps3-an547", PLAIN)]
)
def test_the_core_decides(board: str, operator: str) -> None:
    model = resnet_like()
    methods = model.program.methods
    target = boards.load(board)
    chosen = selection.choose(model.program, model.content, [], target, methods, "net")
    after = names(with_packed(model.program, chosen.needs, QUADS, KNOWN))
    assert operator in after
    assert {PLAIN, PACKED} - {operator} - set(after)


# ---- Winograd's ----------------------------------------------------------------------


def test_transformed_filters_give_the_sums_of_the_taps() -> None:
    random = np.random.default_rng(2)
    weights = random.integers(-128, 128, (4, 3, 3, 8), np.int8)
    elements = random.integers(-255, 256, (4, 4, 8))
    products = transformed(weights).reshape(2, 16, 2, 2, 2, 2)
    # (pair, position, four, even or odd, filter, of two) -> (filter, position, channel)
    filters = products.transpose(0, 4, 1, 2, 5, 3).reshape(4, 4, 4, 8).astype(np.int64)
    b = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
    a = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])
    turned = np.einsum("ia,abc,jb->ijc", b, elements, b)
    assert abs(turned).max() < 2**15
    four = np.einsum("ia,fabc,abc,jb->fij", a, filters, turned, a)
    for y, x in np.ndindex(2, 2):
        window = elements[y : y + 3, x : x + 3]
        sums = np.einsum("fabc,abc->f", weights.astype(np.int64), window)
        np.testing.assert_array_equal(four[:, y, x], 4 * sums)


@pytest.mark.parametrize(
    ("filters", "kernel", "channels"), [(8, 3, 12), (5, 3, 8), (8, 1, 8), (8, 5, 8)]
)
def test_layers_that_stay(filters: int, kernel: int, channels: int) -> None:
    before = network(filters, kernel, channels)
    assert packed(before, form=WINOGRAD_FORM) is before


def test_steps_and_small_outputs_stay() -> None:
    net = Network(3, (1, 8, 6, 5))
    before = net.model(net.conv(net.conv(net.input, 8, 3, 2), 8, 3)).program
    assert packed(before, form=WINOGRAD_FORM) is before


def test_winograd_gives_the_same_bits() -> None:
    net = Network(3, (1, 8, 6, 5))
    model = net.model(net.conv(net.conv(net.input, 16, 3, padding=2), 6, 3))
    after = packed(model.program, form=WINOGRAD_FORM)
    assert names(after) == [WINOGRAD, WINOGRAD]
    old, new = Executable(model.program, model.content), Executable.of(after)
    assert compare(here(), old, new, scenarios(model)) == "same"


@pytest.mark.parametrize(("optimize", "first"), [("speed", WINOGRAD), ("size", PLAIN)])
def test_speed_is_asked_for(optimize: Optimize, first: str) -> None:
    net = Network(3, (1, 8, 6, 5))
    model = net.model(net.conv(net.conv(net.input, 16, 3), 8, 1))
    options = jobs.Options(optimize=optimize)
    job = jobs.make([model], boards.load("mps2-an386"), options, None)
    (chosen,) = Pipeline(job).chosen
    after = names(chosen.model.program)
    assert after == [first, PACKED if optimize == "speed" else PLAIN]
