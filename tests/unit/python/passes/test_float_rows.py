# SPDX-License-Identifier: Apache-2.0
"""Regions of rows of float32 layers, channels in planes or last."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from committed_cases import path_of
from float_row_programs import PLANES, FloatNetwork, random_floats, residual_floats
from row_programs import ORDER, Network, apart
from row_regions_of import (
    every_region,
    largest_region,
    some_give_the_same_bits,
    unplaced,
    with_region,
)
from small_programs import KNOWN, here

from ember import cli
from ember.cases import CaseTensor
from ember.firmware.repack import repack
from ember.kernels.schemas import NamedCall
from ember.model import Model
from ember.plan import passes
from ember.plan.check import rows as check_rows
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.plan.rows import forms, reads
from ember.plan.rows.sharing import What
from ember.program import Method, Program, types

ROWS = passes.with_rows(passes.DEFAULT)


@pytest.mark.parametrize("seed", range(18))
def test_every_region_of_a_random_network_gives_the_same_bits(seed: int) -> None:
    some_give_the_same_bits(random_floats(seed), seed)


@pytest.mark.parametrize("order", [PLANES, ORDER])
def test_what_goes_down_and_up_again_is_one_region(order: tuple[int, ...]) -> None:
    """Rows are repeated, or come of transposed convolutions, and meet what waits."""
    net = FloatNetwork(4, (1, 2, 16, 12), order)
    first = net.relu(net.norm(net.conv(net.input, 4)))
    second = net.conv(net.max_pool(first), 4)
    x = net.conv(net.avg_pool(second), 8)
    x = net.conv(net.cat(net.larger(x), second), 8)
    x = net.conv(net.cat(net.turned(x, 4), first), 4)
    model = net.model(net.conv(x, 1, 1))
    method = apart(model)
    region = largest_region(method)
    assert len(region.cascade.calls) == len(method.instructions)
    rewritten = with_region(model, method, region)
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(rewritten), scenarios(model)) == "same"


@pytest.mark.parametrize("order", [PLANES, ORDER])
def test_outside_of_a_maximum_is_less_than_anything(order: tuple[int, ...]) -> None:
    net = FloatNetwork(5, (1, 3, 9, 8), order)
    model = net.model(net.max_pool(net.conv(net.input, 4), 3, 1, 1))
    method = apart(model)
    region = largest_region(method)
    assert What.LEAST in {step.what for step in region.steps}
    rewritten = with_region(model, method, region)
    runs = scenarios(model)
    tensor = runs[0][0].inputs[0]
    assert isinstance(tensor, CaseTensor)
    least = replace(tensor, array=tensor.array * 0 - float("inf"))
    low = [replace(run, inputs=(least,)) for run in runs[0]]
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(rewritten), [*runs, tuple(low)]) == "same"


# Kernel, stride and padding: of an image of 10 x 9, the last windows reach past the
# bottom, the right edge or both.
PAST = ((3, 2, 0), (2, 3, 0), (3, 3, 1), (2, 2, 0), (4, 3, 1))


@pytest.mark.parametrize("kind", [Network, FloatNetwork])
@pytest.mark.parametrize("windows", PAST)
def test_a_maximum_of_windows_that_reach_past_its_image(
    kind: type[Network], windows: tuple[int, int, int]
) -> None:
    net = kind(11, (1, 3, 10, 9))
    pooled = net.max_pool(net.conv(net.input, 4), *windows, ceil=True)
    model = net.model(net.conv(pooled, 4))
    method = apart(model)
    region = largest_region(method)
    assert len(region.cascade.calls) == len(method.instructions)
    rewritten = with_region(model, method, region)
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(rewritten), scenarios(model)) == "same"


def test_a_mean_counts_no_rows_past_its_image(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a pool whose last rows are there is not part of a region, nor may it be."""
    for height, expected in ((9, True), (10, False)):
        net = FloatNetwork(12, (1, 3, height, 8))
        model = net.model(net.avg_pool(net.input, 3, 2, ceil=True))
        (method,) = model.program.methods
        assert (forms.of_call(method, KNOWN, 0) is not None) == expected

    def careless(index: int, call: NamedCall) -> reads.RowCall:
        past = reads.rows_past(call, (3, 2, 0))
        read = reads.RowRead(0, call["self"], 3, 2, 0, outside=0, past=past)
        return reads.RowCall(index, call.result, (read,))

    monkeypatch.setitem(forms.FORMS, "aten::avg_pool2d.out", careless)
    net = FloatNetwork(12, (1, 3, 10, 8))
    model = net.model(net.avg_pool(net.relu(net.input), 3, 2, ceil=True))
    method = apart(model)
    rewritten, order = unplaced(model, method, largest_region(method))
    assert any("leaves out" in fault for fault in faults(method, rewritten, order))


def test_results_over_rows_need_no_window_of_their_own() -> None:
    """Normalisation and activation are written over the row of the convolution."""
    net = FloatNetwork(6, (1, 3, 8, 8))
    x = net.relu(net.norm(net.conv(net.input, 4)))
    model = net.model(net.conv(x, 4))
    region = largest_region(apart(model))
    homes = [window.home for window in region.cascade.windows]
    assert homes[:4] == [1, 2, None, None]
    starts = region.slab.starts
    newest = starts[2] + 2 * region.cascade.windows[2].row_bytes
    assert starts[0] == starts[1] == newest
    needed = sum(w.room for w in region.cascade.windows if w.home is None)
    assert region.slab.size <= needed


def test_rows_that_are_never_needed_at_once_share_memory() -> None:
    """Two blocks one after the other, each with rows that the next layer takes at
    once; what a block waits for is not there."""
    net = FloatNetwork(6, (1, 4, 12, 12), ORDER)
    x = net.input
    for _ in range(2):
        x = net.conv(net.conv(net.conv(x, 16, 1), 16, depthwise=True), 4, 1)
    model = net.model(net.conv(x, 4))
    method = apart(model)
    region = largest_region(method)
    windows = region.cascade.windows
    assert region.slab.size < sum(w.room for w in windows if w.home is None)
    rewritten = with_region(model, method, region)
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(rewritten), scenarios(model)) == "same"


def test_a_program_whose_results_lie_over_their_arguments_has_the_same_regions() -> (
    None
):
    """As `ember plan` finds them, which says what rows would save."""
    model = residual_floats(4, 16)
    overlaid = repack(model, KNOWN, ("in_place",))
    whole, over = (
        repack(each, KNOWN, ROWS) for each in (model, replace(overlaid, stock=None))
    )
    assert whole.has_rows
    sizes = [improved.program.methods[0].planned_bytes for improved in (whole, over)]
    assert sizes[0] == sizes[1]


def test_a_residual_network_needs_less_than_half() -> None:
    model = residual_floats()
    whole = repack(model, KNOWN, passes.DEFAULT).program.methods[0].planned_bytes
    improved = repack(model, KNOWN, ROWS)
    assert [
        outcome.status for outcome in improved.passes if outcome.name == "rows"
    ] == ["used"]
    assert whole == 196_608
    assert improved.program.methods[0].planned_bytes <= 77_000


def test_indices_that_somebody_reads_keep_a_maximum_whole() -> None:
    net = FloatNetwork(7, (1, 2, 8, 8))
    pooled = net.max_pool(net.conv(net.input, 4))
    call = net.calls[-1]
    assert isinstance(call, types.KernelCall)
    indices = call.args[7]
    method = apart(net.model(pooled, indices))
    taken = {
        each.index for region in every_region(method) for each in region.cascade.calls
    }
    assert 1 not in taken


@pytest.mark.parametrize(("height", "width", "whole"), [(20, 5, True), (8, 8, False)])
def test_a_narrow_image_adds_up_along_columns(
    height: int, width: int, *, whole: bool
) -> None:
    """There, a kernel adds up in another order than in a row."""
    net = FloatNetwork(8, (1, 3, height, width))
    model = net.model(net.conv(net.input, 4))
    assert (forms.of_call(model.program.methods[0], KNOWN, 0) is None) == whole


def faults(before: Method, rewritten: Program, order: tuple[int, ...]) -> list[str]:
    return [
        *check_rows.differences(before, rewritten, rewritten.methods[0], order, KNOWN)
    ]


def small_region(
    order: tuple[int, ...] = PLANES,
) -> tuple[Model, Method, Program, tuple[int, ...]]:
    net = FloatNetwork(9, (1, 3, 8, 8), order)
    x = net.larger(net.avg_pool(net.relu(net.conv(net.input, 4)), 3, 1, 1))
    model = net.model(net.max_pool(net.turned(x, 4), 2, 2))
    method = apart(model)
    rewritten, origins = unplaced(model, method, largest_region(method))
    return model, method, rewritten, origins


def test_rows_in_another_order_are_found() -> None:
    """A node whose window says that channels are innermost reads other elements."""
    _, method, rewritten, order = small_region()
    assert not faults(method, rewritten, order)
    (new,) = rewritten.methods
    for index, _, call in new.kernel_calls():
        value = call.args[0]
        tensor = new.values[value]
        if not isinstance(tensor, types.Tensor) or len(tensor.sizes) != 4:
            continue
        if tensor.data_index or tensor.sizes[1] == 1:
            continue
        values = list(new.values)
        values[value] = replace(tensor, dim_order=ORDER)
        other = replace(rewritten, methods=(replace(new, values=tuple(values)),))
        assert faults(method, other, order), index


@pytest.mark.parametrize(
    ("name", "arg", "items"),
    [
        ("convolution", 4, (1, 1)),
        ("convolution", 5, (2, 1)),
        ("convolution", 3, (2, 1)),
        ("avg_pool2d", 3, (0, 0)),
        ("avg_pool2d", 5, None),
    ],
)
def test_a_node_with_other_windows_is_found(
    name: str, arg: int, items: tuple[int, int] | None
) -> None:
    """Each call's windows are those that its own arguments say, as it was."""
    _, method, rewritten, order = small_region()
    index, call = next(
        (index, call)
        for index, full, call in method.kernel_calls()
        if full.startswith(f"aten::{name}.")
    )
    values = list(method.values)
    if items is None:
        values[call.args[arg]] = types.Bool(False)
    else:
        numbers = tuple(range(len(values), len(values) + 2))
        values += [types.Int(item) for item in items]
        values[call.args[arg]] = types.IntList(numbers)
    before = replace(method, values=tuple(values))
    if name == "convolution" and arg == 4:  # as it is
        assert not faults(before, rewritten, order)
    else:
        assert faults(before, rewritten, order), index


def test_a_repeated_row_of_another_factor_is_found() -> None:
    _, method, rewritten, order = small_region()
    (new,) = rewritten.methods
    (node,) = (c for _, name, c in new.kernel_calls() if "upsample" in name)
    values = list(new.values)
    values[node.args[2]] = types.DoubleList((3.0, 2.0))
    other = replace(rewritten, methods=(replace(new, values=tuple(values)),))
    assert any("repeats" in fault for fault in faults(method, other, order))


def test_planes_are_images_whose_rows_lie_apart() -> None:
    net = FloatNetwork(1, (1, 3, 8, 8))
    (image,) = (net.values[net.input],)
    assert isinstance(image, types.Tensor)
    assert reads.planes(image) == 3
    assert reads.planes(replace(image, dim_order=ORDER)) == 1
    assert reads.with_rows(image, 2).dim_order == (0, 2, 1, 3)
    assert reads.with_rows(image, 1).dim_order == PLANES


def test_plan_says_what_rows_save(tmp_path: Path) -> None:
    words = ["plan", str(path_of("model_resnet8_small")), "--board", "host"]
    to = tmp_path / "plan.json"
    facts = {}
    for option in ("fit", "smallest"):
        assert cli.main([*words, "--rows", option, "--json", str(to)]) == 0
        facts[option] = json.loads(to.read_text())
    (proposed,), (used,) = facts["fit"]["rows"], facts["smallest"]["rows"]
    assert not proposed["used"] and used["used"]
    planned = [facts[o]["activations"]["planned"] for o in ("fit", "smallest")]
    saved = planned[0] - planned[1]  # what scratch leaves free is known then, too
    assert 0.8 * saved <= proposed["saved"] <= saved
