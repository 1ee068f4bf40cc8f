# SPDX-License-Identifier: Apache-2.0
"""The pass scratch: what only kernels of others use is not planned."""

from __future__ import annotations

from dataclasses import replace

from committed_cases import path_of
from small_programs import KNOWN, here

from ember import model as models
from ember.firmware.repack import repack
from ember.plan.passes import calls
from ember.program import edit

CASE = path_of("int8_ds_cnn_small_m55")


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
    assert calls.scratch(draft, here(), frozenset()) != []
    assert calls.scratch(draft, computer, frozenset()) == []
