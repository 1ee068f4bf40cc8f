# SPDX-License-Identifier: Apache-2.0
"""The pass in_place: results are written over unused arguments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import committed_cases
from small_programs import KNOWN, call, here, one_method, tensor

from ember import cases
from ember.cases import batch
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan import passes
from ember.plan.passes import in_place
from ember.plan.passes.execute import Executable
from ember.program import edit, types


def chain(*, wide: bool = False, again: bool = False) -> Model:
    """y = relu(mul(t, u)), t = x * z, u = t or a row of it; t may be needed again."""
    values: list[types.Value] = [
        types.Int(1),
        tensor(0, (1, 4)),
        tensor(64, (4, 4)),
        tensor(128, (4, 4)),
        tensor(192, (4, 4)),
        tensor(64, (1, 4)),  # the first row of t
        tensor(256, (4, 4)),
        tensor(320, (4, 1)),
    ]
    calls: list[types.Instruction] = [
        call("mul", 1, 7, 2),
        call("mul", 2, 5 if wide else 2, 3),
        call("relu", 3, 4),
    ]
    if again:
        calls.append(call("add", 4, 2, 0, 6))
    return one_method(values, calls, (1, 7), (6 if again else 4,))


def offsets_of(source: Model, *values: int) -> list[int]:
    tensors = [source.program.methods[0].values[value] for value in values]
    return [value.allocation.offset for value in tensors]  # type: ignore[union-attr]


def test_a_result_is_written_over_an_argument() -> None:
    improved = repack(chain(), KNOWN, ("in_place",))
    assert [outcome.status for outcome in improved.passes] == ["used"]
    assert len(set(offsets_of(improved, 2, 3, 4))) == 1
    assert offsets_of(improved, 1) != offsets_of(
        improved, 2
    )  # the caller's input stays
    again = repack(replace(improved, stock=None), KNOWN, passes.DEFAULT)
    assert again.program.methods[0].planned_bytes <= 128


def test_an_argument_that_is_read_in_another_shape_stays() -> None:
    improved = repack(chain(wide=True), KNOWN, ("in_place",))
    offset, other = offsets_of(improved, 2, 3)
    assert offset != other


def test_an_argument_that_is_needed_again_stays() -> None:
    improved = repack(chain(again=True), KNOWN, ("in_place",))
    offset, other = offsets_of(improved, 2, 3)
    assert offset != other


def test_kernels_that_say_nothing_are_not_in_place() -> None:
    silent = replace(KNOWN, facts=replace(KNOWN.facts, in_place=frozenset()))
    computer = here(silent)
    assert in_place.apply(edit.draft(chain().program), computer, frozenset()) == []


def test_declared_kernels_write_over_their_arguments(tmp_path: Path) -> None:
    """Every committed case of one call, its result over each argument like it."""
    pairs, names = [], []
    for case_file in cases.find(committed_cases.operators()):
        case = cases.read(case_file)
        (method, *more) = case.program.methods
        calls = [
            c for _, name, c in method.kernel_calls() if KNOWN.writes_in_place(name)
        ]
        if more or len(method.instructions) != 1 or not calls:
            continue
        out = calls[0].args[-1]
        for value in set(method.inputs) & set(calls[0].args):
            if not in_place.are_alike(method, out, value):
                continue
            argument, result = method.values[value], method.values[out]
            assert isinstance(argument, types.Tensor)
            assert isinstance(result, types.Tensor)
            moved = replace(result, allocation=argument.allocation)
            over = edit.with_values(method, {out: moved})
            for variant in (method, over):
                subject = Executable.of(replace(case.program, methods=(variant,)))
                pairs.append((subject, case.runs))
            names.append(f"{case.name}: {value}")
    results = here().run(pairs)
    assert len(names) > 60
    for name, before, after in zip(names, results[::2], results[1::2], strict=True):
        assert before is not None
        assert after is not None
        assert before.status == after.status == batch.OK, name
        assert before.outputs == after.outputs, name
