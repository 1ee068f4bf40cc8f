# SPDX-License-Identifier: Apache-2.0
"""A float32 image is quantised in parts of rows, so that little is beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from row_networks import mobilenet_v1
from row_programs import Network, apart
from small_programs import KNOWN, here

from ember.files.tensors import DType
from ember.model import Model
from ember.plan.check import rows as check_rows
from ember.plan.passes import rows
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.plan.replan import replan
from ember.plan.rows import row_regions
from ember.program import Method, Program, edit, types


def quantised(sizes: Sequence[int]) -> Model:
    """An image of float32 that becomes int8, and then smaller."""
    net = Network(7, sizes, DType.FLOAT32)
    return net.model(net.conv(net.quantize(net.input), 4, 3, 2))


def packed(model: Model) -> Program:
    whole = replan(model.program.methods[0], KNOWN).method
    start = edit.draft(replace(model.program, methods=(whole,)))
    best = rows.apply(start, here(), frozenset())[0].program
    plan = replan(best.methods[0], KNOWN, check=False)
    return replace(best, methods=(plan.method,))


def columns(method: Method) -> list[int]:
    """Of what nodes by themselves make."""
    widths = []
    for region in row_regions.regions(method):
        node = method.instructions[region.rows - 1]
        assert isinstance(node, types.KernelCall)
        tensor = method.values[node.args[-1]]
        assert isinstance(tensor, types.Tensor)
        if region.rows - region.enter == 2:
            widths.append(tensor.sizes[-1])
    return widths


@pytest.mark.parametrize(
    ("sizes", "piece"),
    [
        ((1, 3, 40, 96), 48),
        ((1, 3, 41, 219), 3),  # 3 x 73: a third takes too much
        ((1, 1, 40, 211), 1),  # a prime number
        ((1, 3, 40, 50), 50),  # short rows stay whole
    ],
)
def test_pieces_of_rows_give_the_same_bits(sizes: Sequence[int], piece: int) -> None:
    model = quantised(sizes)
    improved = packed(model)
    assert columns(improved.methods[0]) == [piece]
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(improved), scenarios(model)) == "same"


@pytest.mark.parametrize(("width", "side"), [(0.25, 96), (0.25, 128)])
def test_a_mobilenet_takes_little_more_than_its_image(width: float, side: int) -> None:
    model = mobilenet_v1(width, side, floats=True)
    (method,) = packed(model).methods
    assert method.planned_bytes <= 4 * 3 * side * side + 1000


def test_pieces_of_other_sizes_are_found() -> None:
    model = quantised((1, 3, 40, 96))
    before = apart(model)
    start = edit.draft(replace(model.program, methods=(before,)))
    rewritten = rows.apply(start, here(), frozenset())[0].program
    (method,) = rewritten.methods
    order = (0, 0, 0, 1)
    assert not [*check_rows.differences(before, rewritten, method, order, KNOWN)]
    (region,) = row_regions.regions(method)
    node = method.instructions[region.rows - 1]
    assert isinstance(node, types.KernelCall)
    for arg in (0, -1):
        values = list(method.values)
        tensor = values[node.args[arg]]
        assert isinstance(tensor, types.Tensor)
        values[node.args[arg]] = replace(tensor, sizes=(1, 3, 1, 32))
        wrong = replace(method, values=tuple(values))
        other = replace(rewritten, methods=(wrong,))
        assert [*check_rows.differences(before, other, wrong, order, KNOWN)]
