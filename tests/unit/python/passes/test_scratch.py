# SPDX-License-Identifier: Apache-2.0
"""The pass scratch: what only kernels of others use is not planned."""

from __future__ import annotations

from dataclasses import replace

from small_programs import CASES, KNOWN, here

from ember import model as models
from ember.build.repack import repack
from ember.plan.passes import edit, scratch

CASE = CASES / "int8_ds_cnn_small_m55"


def test_scratch_of_other_kernels_takes_no_memory() -> None:
    model = models.read(CASE)
    before = repack(model, KNOWN).program.methods[0].planned_bytes
    packed = repack(model, KNOWN, ("scratch",))
    assert [outcome.status for outcome in packed.passes] == ["used"]
    assert packed.program.methods[0].planned_bytes < before


def test_kernels_of_users_keep_their_scratch() -> None:
    operators = {
        name: replace(known, sources=tuple(CASE / "own.c" for _ in known.sources))
        for name, known in KNOWN.operators.items()
    }
    computer = here(replace(KNOWN, operators=operators))
    draft = edit.draft(models.read(CASE).program)
    assert scratch.apply(draft, here(), frozenset()) != []
    assert scratch.apply(draft, computer, frozenset()) == []
