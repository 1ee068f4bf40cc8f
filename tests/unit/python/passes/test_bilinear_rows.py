# SPDX-License-Identifier: Apache-2.0
"""Rows that are mixed of those of an image: bilinear upsampling in regions of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from float_row_programs import PLANES, FloatNetwork
from row_programs import ORDER, apart
from row_regions_of import largest_region, unplaced, with_region
from small_programs import KNOWN, here

from ember.model import Model
from ember.plan.check import rows as check_rows
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.plan.rows import forms
from ember.program import Method, types

NUMBER, BILINEAR = "ember::row_number.out", "ember::upsample_bilinear2d_rows.out"


def names(method: Method) -> list[str]:
    return [name for _, name, _ in method.kernel_calls()]


def has_the_same_bits(model: Model, *, given: float | None = None) -> None:
    """As one region of all calls; with some elements of its input `given`."""
    method = apart(model)
    region = largest_region(method)
    assert {call.index for call in region.cascade.calls} == {
        *range(len(method.instructions))
    }
    rewritten = with_region(model, method, region)
    assert {NUMBER, BILINEAR} <= {*names(rewritten.methods[0])}
    runs = scenarios(model)
    if given is not None:
        (tensor,) = runs[0][0].inputs
        array = np.array(tensor.array)  # type: ignore[union-attr]
        array.flat[:: array.size // 9] = given
        runs = [(replace(runs[0][0], inputs=(replace(tensor, array=array),)),)]  # type: ignore[type-var]
    old = Executable.of(model.program)
    assert compare(here(), old, Executable.of(rewritten), runs) == "same"


@pytest.mark.parametrize("order", [PLANES, ORDER])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("factor", [1, 2, 3, 4, 5])
def test_rows_are_mixed_as_in_the_whole_image(
    order: tuple[int, ...], aligned: bool, factor: int
) -> None:
    net = FloatNetwork(factor, (1, 3, 7, 9), order)
    x = net.smoother(net.conv(net.input, 4), factor, aligned=aligned)
    has_the_same_bits(net.model(net.conv(x, 2)))


@pytest.mark.parametrize("height", [1, 2, 3])
@pytest.mark.parametrize("aligned", [False, True])
def test_images_of_few_rows(height: int, aligned: bool) -> None:
    net = FloatNetwork(height, (1, 2, height, 8))
    x = net.smoother(net.relu(net.input), aligned=aligned, scaled=False)
    has_the_same_bits(net.model(net.relu(x)))


@pytest.mark.parametrize("given", [float("inf"), float("nan")])
def test_what_lies_outside_of_the_image_adds_nothing(given: float) -> None:
    """0 * infinity is not a number: of the image's rows only, as without regions."""
    net = FloatNetwork(3, (1, 2, 5, 6))
    has_the_same_bits(
        net.model(net.relu(net.smoother(net.relu(net.input)))), given=given
    )


def test_what_goes_down_and_up_again_is_one_region() -> None:
    net = FloatNetwork(4, (1, 2, 16, 12))
    first = net.relu(net.norm(net.conv(net.input, 4)))
    second = net.conv(net.max_pool(first), 4)
    x = net.conv(net.max_pool(second), 8)
    x = net.conv(net.cat(net.smoother(x), second), 8)
    x = net.conv(net.cat(net.smoother(x, aligned=True), first), 4)
    has_the_same_bits(net.model(net.conv(x, 1, 1)))


@pytest.mark.parametrize("factors", [(2.2, 2.0), (2.0, 2.0)])
def test_factors_that_are_no_integers_are_mixed_alike(
    factors: tuple[float, float],
) -> None:
    """A factor that gives as many rows as an integer, and another step."""
    net = FloatNetwork(8, (1, 2, 4, 6))
    x = net.smoother(net.relu(net.input))
    model = net.model(net.relu(x))
    has_the_same_bits(with_factors(model, factors))


def with_factors(model: Model, factors: tuple[float, float]) -> Model:
    (method,) = model.program.methods
    values = tuple(
        types.DoubleList(factors) if isinstance(value, types.DoubleList) else value
        for value in method.values
    )
    methods = (replace(method, values=values),)
    return replace(model, program=replace(model.program, methods=methods))


def test_other_ratios_stay_whole() -> None:
    net = FloatNetwork(2, (1, 2, 8, 8))
    x = net.smoother(net.input)
    method = net.model(net.relu(x)).program.methods[0]
    assert forms.of_call(method, KNOWN, 0) is not None
    values = list(method.values)
    tensor = values[x]
    assert isinstance(tensor, types.Tensor)
    values[x] = replace(tensor, sizes=(1, 2, 12, 16))
    assert forms.of_call(replace(method, values=tuple(values)), KNOWN, 0) is None


# ---- what the plan's check finds ---------------------------------------------------


def small_program() -> tuple[Model, Method]:
    net = FloatNetwork(5, (1, 2, 6, 5))
    x = net.smoother(net.conv(net.input, 3))
    model = net.model(net.conv(x, 2))
    return model, apart(model)


@pytest.mark.parametrize(
    ("arg", "other"),
    [
        (2, types.Int(7)),  # rows of the image
        (3, types.Bool(True)),
        (4, types.DoubleList((2.0, 3.0))),
    ],
)
def test_a_node_that_mixes_other_rows_is_found(arg: int, other: types.Value) -> None:
    model, method = small_program()
    rewritten, order = unplaced(model, method, largest_region(method))
    (new,) = rewritten.methods
    (node,) = (call for _, name, call in new.kernel_calls() if name == BILINEAR)
    values = list(new.values)
    values[node.args[arg]] = other
    wrong = replace(rewritten, methods=(replace(new, values=tuple(values)),))
    assert not [*check_rows.differences(method, rewritten, new, order, KNOWN)]
    differences = [
        *check_rows.differences(method, wrong, wrong.methods[0], order, KNOWN)
    ]
    assert any("mixes other rows" in fault for fault in differences)


def test_a_number_that_does_not_begin_anew_is_found() -> None:
    model, method = small_program()
    region = largest_region(method)
    number = next(n for n, call in enumerate(region.cascade.calls) if call.renewed)
    steps = tuple(
        step
        for step in region.steps
        if not (step.window == number and step.what == step.what.FILL)
    )
    assert len(steps) == len(region.steps) - 1
    wrong, order = unplaced(model, method, replace(region, steps=steps))
    differences = [
        *check_rows.differences(method, wrong, wrong.methods[0], order, KNOWN)
    ]
    assert any("reads other rows" in fault for fault in differences)
