# SPDX-License-Identifier: Apache-2.0
"""Pools of large windows add rows up, so that no region holds a window of theirs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from row_networks import inception_like
from row_programs import Network, apart
from row_regions_of import unplaced
from small_programs import KNOWN, here

from ember import program
from ember.model import Model
from ember.plan import check
from ember.plan.check import rows as check_rows
from ember.plan.passes import rows
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.plan.replan import replan
from ember.plan.rows import choose
from ember.plan.rows.lives import RowLives
from ember.plan.rows.schedule import Schedule
from ember.program import KernelCall, Method, Program, edit, types

SUMS, MEANS = "ember::avg_pool_sums", "ember::avg_pool_means"

# Channels, height and width of the image, kernel and stride of the pool.
POOLS = (
    (5, 7, 9, 7, 1),  # a single row of several windows
    (8, 12, 12, 12, 12),  # a single window
    (3, 13, 11, 4, 4),  # a row and columns that no window reads
    (17, 16, 14, 4, 5),  # rows between windows
    (1, 9, 9, 8, 3),  # rows behind the last window
)


def pooled(channels: int, height: int, width: int, kernel: int, stride: int) -> Model:
    """A convolution, a pool, and a convolution of what that makes."""
    net = Network(kernel * stride, (1, 4, height, width))
    pool = net.avg_pool(net.conv(net.input, channels), kernel, stride)
    return net.model(net.conv(pool, 6, 1))


def whole_region(method: Method) -> Schedule:
    """All calls of a method as one region."""
    chooser = choose.Chooser(RowLives(method, KNOWN))
    (*_, last) = chooser.ranges()
    region = chooser.scheduled(max(last, key=lambda each: each.count))
    assert region is not None
    assert region.cascade.calls[0].index == 0
    return region


def by_rows(model: Model) -> tuple[Program, Method, tuple[int, ...]]:
    """With a region of all calls: the program, and its method before it was placed."""
    method = apart(model)
    rewritten, order = unplaced(model, method, whole_region(method))
    return rewritten, method, order


def names(method: Method) -> list[str]:
    return [name.removesuffix(".out") for _, name, _ in method.kernel_calls()]


@pytest.mark.parametrize("pool", POOLS)
def test_sums_of_rows_give_the_same_bits(pool: tuple[int, int, int, int, int]) -> None:
    model = pooled(*pool)
    rewritten, method, order = by_rows(model)
    assert SUMS in names(rewritten.methods[0])
    assert MEANS in names(rewritten.methods[0])
    assert not [
        *check_rows.differences(method, rewritten, rewritten.methods[0], order, KNOWN)
    ]
    plan = replan(rewritten.methods[0], KNOWN, check=False)
    placed = replace(rewritten, methods=(plan.method,))
    assert check.problems(rewritten, placed, KNOWN) == []
    assert program.problems(placed) == []
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(placed), scenarios(model)) == "same"


@pytest.mark.parametrize(
    "pool", [(8, 12, 12, 2, 2), (8, 12, 12, 8, 2), (8, 9, 9, 3, 3), (8, 12, 7, 6, 6)]
)
def test_small_overlapping_and_narrow_windows_stay(
    pool: tuple[int, int, int, int, int],
) -> None:
    """Where sums would take more than half of a window, where a row is part of several
    windows, and where it is short."""
    rewritten, *_ = by_rows(pooled(*pool))
    assert SUMS not in names(rewritten.methods[0])


def test_an_image_that_is_pooled_as_a_whole_is_never_whole() -> None:
    """The last image has 65,536 bytes, all of the method takes less."""
    model = inception_like(64)
    packed = replan(model.program.methods[0], KNOWN).method
    start = edit.draft(replace(model.program, methods=(packed,)))
    best = rows.apply(start, here(), frozenset())[0]
    method = replan(best.program.methods[0], KNOWN, check=False).method
    assert SUMS in names(method)
    assert method.planned_bytes < 65_536
    rewritten = replace(best.program, methods=(method,))
    old = Executable(model.program, model.content)
    assert compare(here(), old, Executable.of(rewritten), scenarios(model)) == "same"


def changed(source: Program, name: str, arg: int, to: types.Value) -> Program:
    """With another argument of the one call of that name."""
    (method,) = source.methods
    at = names(method).index(name)
    (chain,) = method.chains
    instructions = list(chain.instructions)
    call = instructions[at]
    assert isinstance(call, KernelCall)
    args = list(call.args)
    args[arg] = len(method.values)
    instructions[at] = replace(call, args=tuple(args))
    chains = (replace(chain, instructions=tuple(instructions)),)
    values = (*method.values, to)
    return replace(source, methods=(replace(method, values=values, chains=chains),))


@pytest.mark.parametrize("name", [SUMS, MEANS])
@pytest.mark.parametrize("arg", [4, 5, 6])
def test_another_scale_or_zero_is_found(name: str, arg: int) -> None:
    rewritten, method, order = by_rows(pooled(*POOLS[0]))
    wrong = changed(rewritten, name, arg, types.Int(3))
    differences = [
        *check_rows.differences(method, wrong, wrong.methods[0], order, KNOWN)
    ]
    assert any("adds up other windows" in fault for fault in differences)


def test_sums_that_do_not_begin_anew_are_found() -> None:
    """Each step that clears sums is left out."""
    model = pooled(*POOLS[2])
    method = apart(model)
    region = whole_region(method)
    sums = next(n for n, call in enumerate(region.cascade.calls) if call.renewed)
    clears = [
        n
        for n, step in enumerate(region.steps)
        if step.window == sums and step.what == step.what.FILL
    ]
    assert len(clears) == 3  # rows of windows
    for at in clears:
        wrong = replace(region, steps=region.steps[:at] + region.steps[at + 1 :])
        rewritten, order = unplaced(model, method, wrong)
        differences = [
            *check_rows.differences(
                method, rewritten, rewritten.methods[0], order, KNOWN
            )
        ]
        assert any("reads other rows" in fault for fault in differences)
