# SPDX-License-Identifier: Apache-2.0
"""The pass order: calls change places where that lowers the peak."""

from __future__ import annotations

import pytest
from committed_cases import path_of
from small_programs import KNOWN, call, linear, one_method, tensor

from ember import model as models
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan.passes import order
from ember.program import types


def branches() -> Model:
    """Two large tensors, each made small: the program makes both before it shrinks
    one."""
    large, small = (64,), (4,)
    values: list[types.Value] = [
        types.Int(0),
        types.Int(1),
        types.Int(4),
        tensor(0, small),
        types.IntList((6,)),
        types.Double(1.5),
        types.Int(64),
        tensor(1024, large),
        tensor(2048, large),
        tensor(3072, small),
        tensor(4096, small),
        tensor(5120, small),
        tensor(6144, small),
        tensor(7168, large),
        tensor(8192, large),
    ]
    calls: list[types.Instruction] = [
        call("relu", 13, 7),
        call("relu", 13, 8),
        call("slice", 7, 0, 0, 2, 1, 9),
        call("slice", 8, 0, 0, 2, 1, 10),
        call("mul", 9, 10, 11),
    ]
    return one_method(values, calls, (13,), (11,), size=16384)


def test_calls_change_places_where_that_lowers_the_peak() -> None:
    before = repack(branches(), KNOWN)
    improved = repack(branches(), KNOWN, ("order",))
    (outcome,) = improved.passes
    assert outcome.status == "used"
    saved = before.program.methods[0].planned_bytes
    saved -= improved.program.methods[0].planned_bytes
    assert saved == outcome.planned == 256 - 16
    assert sorted(improved.origins["forward"]) == [0, 1, 2, 3, 4]
    assert improved.origins["forward"] != (0, 1, 2, 3, 4)


def test_an_order_that_is_best_stays() -> None:
    improved = repack(linear(), KNOWN, ("order",))
    assert [outcome.status for outcome in improved.passes] == ["idle"]
    again = repack(branches(), KNOWN, ("order",))
    twice = repack(again, KNOWN, ("order",))
    assert [outcome.status for outcome in twice.passes] == ["idle"]


@pytest.mark.parametrize("name", ["special_counter", "special_kv_cache"])
def test_state_is_read_before_it_changes_in_every_order(name: str) -> None:
    model = models.read(path_of(name))
    (method,) = model.program.methods
    orders = order.Orders(method, KNOWN)
    reads = {v: n for n, effect in enumerate(orders.effects) for v in effect.reads}
    for index, accesses in enumerate(orders.effects):
        for value in accesses.writes | accesses.updates:
            for other, at in reads.items():
                a, b = orders.of_value.get(value), orders.of_value.get(other)
                if a is not None and a == b and at < index:
                    assert orders.needs[index] >> at & 1
