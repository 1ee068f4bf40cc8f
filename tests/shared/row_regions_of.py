# SPDX-License-Identifier: Apache-2.0
"""A model becomes programs with a region of rows each, all that it may have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from row_programs import apart
from small_programs import KNOWN, here

from ember.model import Model
from ember.plan import check
from ember.plan.check import rows as check_rows
from ember.plan.passes.execute import Executable, compare, scenarios
from ember.plan.replan import replan
from ember.plan.rows import choose, rewrite
from ember.plan.rows.lives import RowLives
from ember.plan.rows.schedule import Schedule
from ember.program import Method, Program


def every_region(method: Method) -> list[Schedule]:
    """All ranges of calls that can run by rows, each as a region."""
    chooser = choose.Chooser(RowLives(method, KNOWN))
    regions = []
    for ranges in chooser.ranges():
        for each in ranges:
            if each.by_rows:
                found_region = chooser.scheduled(each)
                if found_region is not None:
                    regions.append(found_region)
    return regions


def largest_region(method: Method) -> Schedule:
    return max(every_region(method), key=lambda each: len(each.cascade.calls))


def unplaced(
    model: Model, method: Method, region: Schedule
) -> tuple[Program, tuple[int, ...]]:
    """The program with a region, before that is placed, and the instruction that each
    of its own came from."""
    new = rewrite.rewritten(method, [region], len(model.program.constants))
    constants = (*model.program.constants, *new.tables)
    content = replace(model.program, methods=(new.method,), constants=constants)
    return content, new.order


def with_region(model: Model, method: Method, region: Schedule) -> Program:
    content, order = unplaced(model, method, region)
    (new,) = content.methods
    assert not [*check_rows.differences(method, content, new, order, KNOWN)]
    plan = replan(new, KNOWN, check=False)
    placed = replace(content, methods=(plan.method,))
    assert check.problems(content, placed, KNOWN) == []
    return placed


def some_give_the_same_bits(model: Model, seed: int) -> None:
    """Asserts so of the largest region and a few others."""
    method = apart(model)
    regions = every_region(method)
    assert regions
    random = np.random.default_rng(seed)
    some = random.choice(len(regions), min(len(regions), 5), replace=False)
    for number in sorted({*map(int, some), len(regions) - 1}):
        content = with_region(model, method, regions[number])
        same = compare(
            here(),
            Executable(model.program, model.content),
            Executable.of(content),
            scenarios(model),
        )
        calls = regions[number].cascade.calls
        assert same == "same", (seed, [call.index for call in calls])
