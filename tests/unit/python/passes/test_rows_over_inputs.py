# SPDX-License-Identifier: Apache-2.0
"""Layers whose results are written over their inputs, row by row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from row_programs import (
    Network,
    apart,
    over_network,
)
from small_programs import KNOWN, here

from ember.firmware.repack import repack
from ember.plan import passes
from ember.plan.passes.execute import Executable, scenarios
from ember.plan.rows.lives import RowLives
from ember.program import Method, types

ROWS = passes.with_rows(passes.DEFAULT)


def over_calls(method: Method) -> int:
    """Calls whose result is where their first argument is."""
    return sum(
        place(method, call.args[0]) == place(method, call.args[-1])
        for _, name, call in method.kernel_calls()
        if name.startswith("cortex_m::quantized")
    )


def place(method: Method, value: int) -> types.Allocation | None:
    tensor = method.values[value]
    return tensor.allocation if isinstance(tensor, types.Tensor) else None


def test_layers_of_one_shape_are_written_over_their_inputs() -> None:
    model = over_network()
    whole = repack(model, KNOWN, passes.DEFAULT)
    improved = repack(model, KNOWN, ROWS)
    assert improved.has_rows
    assert not whole.has_rows
    (before,), (after,) = whole.program.methods, improved.program.methods
    assert over_calls(before) == 0
    assert over_calls(after) == 4  # the input stays as it is
    assert after.planned_bytes <= before.planned_bytes * 0.7


@pytest.mark.parametrize("channels", [4, 12, 16, 32, 20, 24, 40])
def test_channels_decide_whether_a_layer_is_written_over_its_input(
    channels: int,
) -> None:
    """With 20, 24 and 40 some kernels would read the last ones a second time."""
    net = Network(2, (1, channels, 6, 5))
    x = net.conv(net.input, channels, 1)
    x = net.conv(x, 0, 3, depthwise=True)
    model = net.model(net.avg_pool(x, 5, 1))
    lives = RowLives(apart(model), KNOWN)
    may_be_over = lives.over_source(1) is not None
    assert may_be_over == (channels % 16 == 0 or channels < 16)
    assert lives.over_source(0) is None  # nobody shall lose the input


def test_what_is_needed_later_is_not_written_over() -> None:
    net = Network(2, (1, 16, 6, 5))
    x = net.conv(net.input, 16, 1)
    y = net.conv(x, 0, 3, depthwise=True)
    model = net.model(net.avg_pool(net.plus(x, y), 5, 1))
    assert RowLives(apart(model), KNOWN).over_source(1) is None


@pytest.mark.parametrize(
    ("kernel", "stride", "filters"), [(3, 2, 16), (1, 1, 8), (1, 2, 16)]
)
def test_a_result_of_another_shape_over_its_input_is_refused(
    kernel: int, stride: int, filters: int
) -> None:
    net = Network(2, (1, 16, 6, 5))
    x = net.conv(net.input, 16, 1)
    y = net.conv(x, filters, kernel, stride)
    model = net.model(net.max_pool(y, 1, 1))
    (method,) = model.program.methods
    values = list(method.values)
    tensor = values[y]
    assert isinstance(tensor, types.Tensor)
    values[y] = replace(tensor, allocation=place(method, x))
    changed = replace(method, values=tuple(values))
    edited = replace(model.program, methods=(changed,))
    runs = scenarios(model)[0][:1]
    (result,) = here().run([(Executable.of(edited), runs)])
    assert result is not None
    assert result.status != 0
