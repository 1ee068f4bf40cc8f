# SPDX-License-Identifier: Apache-2.0
"""The pass update: states are changed in place."""

from __future__ import annotations

from dataclasses import replace

import committed_cases
import pytest
from committed_cases import path_of
from small_programs import KNOWN, call, here, names_of, one_method, tensor

from ember import cases
from ember import model as models
from ember.cases import batch
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan import passes
from ember.plan.passes import in_place
from ember.plan.passes.execute import Executable
from ember.program import edit, types

FLAT = (4, 4)


def kept(*, late: bool = False, early: bool = False, shown: bool = False) -> Model:
    """state = relu(x); y = state + x. The old state may be read `early`, before, or
    `late`, in between; its new content may be `shown` as an output."""
    places = (0, 64, 128, 192, 256)
    values: list[types.Value] = [types.Int(1), types.Bool(False)]
    values += [tensor(place, FLAT) for place in places]
    x, state, new, y, old = range(2, 7)
    read = [call("add", state, x, 0, old)]
    calls: list[types.Instruction] = [
        *(read if early else []),
        call("relu", x, new),
        *(read if late else []),
        types.KernelCall(call("copy_", 0).op_index, (state, new, 1, state)),
        call("add", state, x, 0, y),
    ]
    outputs = (y, *((old,) if early or late else ()), *((new,) if shown else ()))
    return one_method(values, calls, (x,), outputs)


def after(source: Model) -> list[str]:
    packed = repack(source, KNOWN, ("update",))
    assert all(outcome.status in ("used", "idle") for outcome in packed.passes)
    return names_of(packed.program.methods[0])


def test_what_computes_a_state_writes_to_it() -> None:
    assert "aten::copy_" not in after(kept())
    assert "aten::copy_" not in after(kept(early=True))


def test_a_state_that_is_read_in_between_is_copied_back() -> None:
    assert "aten::copy_" in after(kept(late=True))
    assert "aten::copy_" in after(kept(shown=True))


@pytest.mark.parametrize("name", ["model_tokens_small", "model_tokens_steps_small"])
def test_caches_are_changed_in_place(name: str) -> None:
    model = models.read(path_of(name))
    packed = repack(model, KNOWN, passes.DEFAULT)
    (method,) = packed.program.methods
    puts = [
        call_.args
        for _, op, call_ in method.kernel_calls()
        if op == "aten::index_put.out"
    ]
    assert "aten::copy_" not in names_of(method)
    assert len(puts) == 2
    assert all(args[0] == args[-1] for args in puts)


def test_kernels_that_say_nothing_do_not_amend() -> None:
    silent = replace(KNOWN, facts=replace(KNOWN.facts, amends=frozenset()))
    draft = edit.draft(models.read(path_of("model_tokens_small")).program)
    assert in_place.update(draft, here(), frozenset()) != []
    assert in_place.update(draft, here(silent), frozenset()) == []


def test_declared_kernels_amend_their_argument() -> None:
    """Every committed case of one such call, its result over its first argument."""
    pairs, names = [], []
    for case_file in cases.find(committed_cases.operators()):
        case = cases.read(case_file)
        (method, *more) = case.program.methods
        calls = [c for _, op, c in method.kernel_calls() if KNOWN.amends_self(op)]
        if more or len(method.instructions) != 1 or not calls:
            continue
        self, out = calls[0].args[0], calls[0].args[-1]
        if self not in method.inputs or not in_place.are_alike(method, out, self):
            continue
        argument, result = method.values[self], method.values[out]
        assert isinstance(argument, types.Tensor)
        assert isinstance(result, types.Tensor)
        changed = replace(result, allocation=argument.allocation)
        over = edit.with_values(method, {out: changed})
        for variant in (method, over):
            subject = Executable.of(replace(case.program, methods=(variant,)))
            pairs.append((subject, case.runs))
        names.append(case.name)
    results = here().run(pairs)
    assert len(names) > 15
    for name, before, changed_ in zip(names, results[::2], results[1::2], strict=True):
        assert before is not None and changed_ is not None
        assert before.status == changed_.status == batch.OK, name
        assert before.outputs == changed_.outputs, name
