# SPDX-License-Identifier: Apache-2.0
"""The passes fold and fold_inexact: calls of constants become constants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from small_programs import (
    KNOWN,
    ROOT,
    WEIGHT,
    call,
    here,
    linear,
    names_of,
    one_method,
    tensor,
)

from ember import kernels, program
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan import passes
from ember.plan.passes import fold
from ember.program import edit, types


def test_a_transposed_weight_is_folded() -> None:
    improved = repack(linear(), KNOWN, ("fold",))
    (method,) = improved.program.methods
    assert names_of(method) == ["aten::add.out"]
    assert improved.origins == {"forward": (1,)}
    assert improved.program.constants[1:] == (WEIGHT.reshape(3, 2).T.tobytes(),)
    assert improved.program.unused_constants() == ()
    assert method.planned_bytes == 64
    (outcome,) = improved.passes
    assert (outcome.status, outcome.instructions, outcome.constants) == ("used", 1, 0)


def test_an_output_is_not_folded() -> None:
    improved = repack(linear(shown=True), KNOWN, ("fold",))
    assert len(improved.program.methods[0].instructions) == 2
    assert [outcome.status for outcome in improved.passes] == ["idle"]


def full(count: int, *, random: bool = False) -> Model:
    """y = relu(x) + full([count], 1.5), or a random tensor."""
    values: list[types.Value] = [
        tensor(0, (count,)),
        types.Int(count),
        types.IntList((1,)),
        types.Double(1.5),
        tensor(4 * count, (count,)),
        types.Int(1),
        tensor(8 * count, (count,)),
        tensor(12 * count, (count,)),
    ]
    calls: list[types.Instruction] = [
        call("rand", 2, 4) if random else call("full", 2, 3, 4),
        call("relu", 0, 6),
        call("add", 6, 4, 5, 7),
    ]
    return one_method(values, calls, (0,), (7,), (), 16 * count)


def test_constants_may_grow_by_the_memory_that_is_saved() -> None:
    improved = repack(full(64), KNOWN, ("fold",))
    (outcome,) = improved.passes
    assert outcome.status == "used"
    assert -outcome.constants <= outcome.planned
    assert len(improved.program.methods[0].instructions) == 2


def test_constants_do_not_grow_for_nothing() -> None:
    model = full(64)
    (method,) = model.program.methods
    # The peak is elsewhere: two large tensors that have nothing to do with it.
    values = [*method.values, tensor(1024, (1024,)), tensor(8192, (1024,))]
    calls = [*method.instructions, call("relu", 8, 9)]
    method = replace(
        method,
        values=tuple(values),
        inputs=(0, 8),
        outputs=(7, 9),
        chains=(types.Chain(tuple(calls)),),
        planned_sizes=(0, 16384),
    )
    edited = replace(model.program, methods=(method,))
    large = replace(model, program=edited, content=program.write(edited))
    grown = repack(large, KNOWN, ("fold",))
    before = repack(large, KNOWN)
    saved = before.program.methods[0].planned_bytes
    saved -= grown.program.methods[0].planned_bytes
    assert sum(map(len, grown.program.constants)) <= saved


def test_random_numbers_stay() -> None:
    improved = repack(full(8, random=True), KNOWN, ("fold",))
    assert len(improved.program.methods[0].instructions) == 3
    assert improved.passes == ()


def test_kernels_of_the_user_are_not_folded(tmp_path: Path) -> None:
    (tmp_path / "kernels.yaml").write_text(
        "- {op: aten::permute_copy.out, kernels: [my_permute]}\n"
    )
    source = (ROOT / "kernels/movement/permute_copy.c").read_text()
    source = source.replace("EMBER_KERNEL(permute_copy", "EMBER_KERNEL(my_permute")
    (tmp_path / "my_permute.c").write_text(source)
    known = kernels.load((tmp_path,))
    draft = edit.draft(linear().program)
    assert fold.exact(draft, here(known), frozenset()) == []


def test_kept_memories_stay() -> None:
    draft = edit.draft(linear().program)
    assert fold.exact(draft, here(), frozenset({1})) == []


def test_jumps_follow_what_is_left() -> None:
    model = linear()
    (method,) = model.program.methods
    calls: list[types.Instruction] = [
        types.JumpFalseCall(8, 3),
        call("permute", 1, 6, 2),
        call("add", 0, 2, 7, 3),
        call("relu", 0, 9),
    ]
    method = replace(
        method,
        values=(*method.values, types.Bool(True), tensor(256)),
        inputs=(0, 8),
        outputs=(9,),
        chains=(types.Chain(tuple(calls)),),
    )
    after, kept = edit.without(method, frozenset({1}))
    assert kept == (0, 2, 3)
    assert after.instructions[0] == types.JumpFalseCall(8, 2)
    assert edit.without(method, frozenset({3}))[0].instructions[0] == calls[0]


def cosine() -> Model:
    """y = x + cos(c): the last bit of a cosine may be another one elsewhere."""
    values: list[types.Value] = [
        tensor(0),
        tensor(None, (2, 3), 1),
        tensor(64),
        tensor(128),
        types.Int(1),
    ]
    calls: list[types.Instruction] = [call("cos", 1, 2), call("add", 0, 2, 4, 3)]
    return one_method(values, calls, (0,), (3,), (WEIGHT.tobytes(),))


def test_what_is_not_exact_is_folded_when_asked_for() -> None:
    assert len(repack(cosine(), KNOWN, passes.DEFAULT).program.constants) == 2
    improved = repack(cosine(), KNOWN, ("fold_inexact",))
    assert names_of(improved.program.methods[0]) == ["aten::add.out"]
    folded = np.frombuffer(improved.program.constants[1], np.float32)
    assert np.allclose(folded, np.cos(WEIGHT))


def test_a_program_that_cannot_run_here_is_not_changed() -> None:
    values: list[types.Value] = [*linear().program.methods[0].values]
    values[6] = types.IntList((4, 4))  # permutes a dimension twice
    model = linear()
    (method,) = model.program.methods
    broken = replace(method, values=tuple(values))
    draft = edit.draft(replace(model.program, methods=(broken,)))
    assert fold.exact(draft, here(), frozenset()) == []
