# SPDX-License-Identifier: Apache-2.0
"""The pass layout: states have the layout in which they are read: none is turned."""

from __future__ import annotations

import pytest
from committed_cases import path_of
from small_programs import KNOWN, call, names_of, one_method, tensor

from ember import model as models
from ember.firmware.repack import repack
from ember.model import Model
from ember.program import types

PASSES = ("fold", "update", "view", "layout")


def turned(*, read: bool = False) -> Model:
    """A state takes a row x at its end and is turned over. With `read` it is doubled as
    well, by a kernel of which nothing says that it takes any order."""
    values: list[types.Value] = [
        types.Int(1),
        types.Int(0),
        types.Int(2),
        types.Bool(False),
        types.IntList(
            (0, 1)
        ),  # values 0 and 1, which are 1 and 0: the other dimension first
        tensor(0, (3, 2)),
        tensor(64, (1, 2)),
        tensor(128, (3, 2)),
        tensor(192, (2, 3)),
        tensor(256, (2, 3)),
        tensor(320, (3, 2)),
        types.Int(3),
    ]
    unit, zero, two, false, order, state, x, new, over, out, same, three = range(12)
    calls: list[types.Instruction] = [
        call("slice_scatter", state, x, zero, two, three, unit, new),
        types.KernelCall(call("copy_", 0).op_index, (state, new, false, state)),
        call("permute", state, order, over),
        call("add", over, over, unit, out),
    ]
    if read:
        calls.append(call("add", state, state, unit, same))
    return one_method(values, calls, (x,), (out, *((same,) if read else ())))


def operators_after(source: Model) -> list[str]:
    packed = repack(source, KNOWN, PASSES)
    assert {outcome.status for outcome in packed.passes} <= {"used", "idle"}
    return names_of(packed.program.methods[0])


def test_a_state_lies_as_it_is_read() -> None:
    assert operators_after(turned()) == ["aten::slice_scatter.out", "aten::add.out"]


def test_a_state_that_others_read_as_well_is_turned() -> None:
    assert "aten::permute_copy.out" in operators_after(turned(read=True))


@pytest.mark.parametrize("name", ["model_tokens_steps_small"])
def test_caches_lie_as_products_read_them(name: str) -> None:
    packed = repack(models.read(path_of(name)), KNOWN, PASSES)
    (method,) = packed.program.methods
    assert [outcome.status for outcome in packed.passes] == ["used"] * 4
    orders = [
        method.values[args[0]].dim_order  # type: ignore[union-attr]
        for _, op, call_ in method.kernel_calls()
        if op == "aten::index_put.out"
        for args in [call_.args]
    ]
    assert sorted(orders) == [(0, 2, 1, 3), (0, 2, 3, 1)]
    assert "aten::permute_copy.out" not in names_of(method)
