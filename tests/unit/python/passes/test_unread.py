# SPDX-License-Identifier: Apache-2.0
"""The pass unread: unused indices of max pools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import committed_cases
import pytest
from float_row_programs import FloatNetwork
from row_programs import Network
from small_programs import KNOWN, here

from ember import model as models
from ember.files.tensors import DType
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan import passes
from ember.plan.passes import calls
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.program import Method, edit, types

POOL = "aten::max_pool2d_with_indices"


def network(*, ceil: bool = False) -> tuple[FloatNetwork, int, int]:
    """With the values of a pool's result and of its indices."""
    net = FloatNetwork(3, (1, 1, 17, 17))
    pooled = net.max_pool(net.relu(net.conv(net.input, 8)), ceil=ceil)
    call = net.calls[-1]
    assert isinstance(call, types.KernelCall)
    return net, pooled, call.args[7]


def indices(method: Method) -> list[types.Value]:
    """What the calls of max pools have in the place of indices."""
    return [
        method.values[call.args[7]]
        for _, name, call in method.kernel_calls()
        if name.startswith("aten::max_pool")
    ]


def of_bytes(**windows: int) -> Model:
    """A pool of int8 images as exporters leave it that quantise no pools."""
    net = Network(4, (1, 3, 9, 10))
    x = net.conv(net.input, 5)
    stated = {"kernel": 2, "stride": 2, "padding": 0, "dilation": 1} | windows
    reach = stated["dilation"] * (stated["kernel"] - 1) + 1
    stride = stated["stride"] or stated["kernel"]
    y = net.image(net.pooled(x, reach, stride, stated["padding"], ceil=True))
    positions = net.image(net.sizes(y), DType.INT64)
    given = {name: [number] * 2 for name, number in stated.items()}
    given["stride"] = given["stride"] if stated["stride"] else []
    lists = [net.ints(*numbers) for numbers in given.values()]
    net.call(POOL, x, *lists, net.add(types.Bool(True)), y, positions,
             net.add(types.TensorList((y, positions))))  # fmt: skip
    last = net.calls[-1]
    assert isinstance(last, types.KernelCall)
    net.calls[-1] = types.KernelCall(last.op_index, last.args[:-1])
    net.zeros[y] = net.zeros[x]
    return net.model(net.conv(y, 4))


@pytest.mark.parametrize("ceil", [False, True])
def test_indices_that_nobody_reads_are_not_planned(*, ceil: bool) -> None:
    net, pooled, _ = network(ceil=ceil)
    model = net.model(net.conv(pooled, 4))
    without = [name for name in passes.DEFAULT if name != "unread"]
    before, after = (repack(model, KNOWN, names) for names in (without, passes.DEFAULT))
    assert [o.status for o in after.passes if o.name == "unread"] == ["used"]
    assert indices(after.program.methods[0]) == [types.Null()]
    image, half = (4 * 8 * side * side for side in (17, 9 if ceil else 8))
    planned = [
        improved.program.methods[0].planned_bytes for improved in (before, after)
    ]
    assert planned == [image + 3 * half + -image % 16, image + half + -image % 16]


@pytest.mark.parametrize("used", ["output", "read"])
def test_indices_that_somebody_reads_stay(used: str) -> None:
    net, pooled, positions = network()
    if used == "read":
        positions = net.aten(
            "abs", positions, net.image(net.sizes(positions), DType.INT64)
        )
    model = net.model(net.relu(pooled), positions)
    assert calls.unread(edit.draft(model.program), here(), frozenset()) == []


@pytest.mark.parametrize("pool", ["adaptive_max_pool2d", "adaptive_max_pool3d"])
def test_indices_of_adaptive_pools(pool: str) -> None:
    def used(case: str) -> bool:
        model = models.read(committed_cases.case(f"op_{case}"))
        improved = repack(model, KNOWN, ("unread",))
        (call,) = (c for _, name, c in improved.program.methods[0].kernel_calls())
        old = Executable(model.program, model.content)
        same = compare(here(), old, Executable.of(improved.program), scenarios(model))
        assert same == "same"
        return improved.program.methods[0].values[call.args[3]] == types.Null()

    assert used(f"{pool}_values")
    assert not used(pool)


def test_kernels_of_users_get_their_indices() -> None:
    net, pooled, _ = network()
    draft = edit.draft(net.model(pooled).program)
    custom = replace(
        KNOWN.operators[f"{POOL}.out"], sources=tuple(Path("own.c") for _ in range(5))
    )
    known = replace(KNOWN, operators={**KNOWN.operators, f"{POOL}.out": custom})
    assert calls.unread(draft, here(), frozenset()) != []
    assert calls.unread(draft, here(known), frozenset()) == []


@pytest.mark.parametrize(
    ("windows", "is_quantized"),
    [
        ({}, True),
        ({"kernel": 3, "padding": 1}, True),
        ({"stride": 0}, True),  # that of the kernel
        ({"dilation": 2}, False),
    ],
)
def test_a_pool_of_bytes_becomes_the_dialects(
    windows: dict[str, int], *, is_quantized: bool
) -> None:
    model = of_bytes(**windows)
    improved = repack(model, KNOWN, ("unread",))
    names = improved.program.methods[0].operator_names
    assert ("cortex_m::quantized_max_pool2d.out" in names) == is_quantized
    assert (f"{POOL}.out" in names) != is_quantized
    old = Executable(model.program, model.content)
    new = Executable.of(improved.program)
    assert compare(here(), old, new, scenarios(model)) == "same"


def test_rows_of_a_pool_without_indices() -> None:
    """Regions of rows hold none either."""
    net, pooled, _ = network(ceil=True)
    model = net.model(net.conv(pooled, 4))
    improved = repack(model, KNOWN, passes.with_rows(passes.DEFAULT))
    assert improved.has_rows
    assert indices(improved.program.methods[0]) == [types.Null()]
