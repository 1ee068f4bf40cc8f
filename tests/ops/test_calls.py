# SPDX-License-Identifier: Apache-2.0
"""Calls that PyTorch refuses are refused when a program is loaded, and no others."""

from __future__ import annotations

from pathlib import Path

import one_call
import pytest

from ember import files

CALLS: dict[str, list[str]] = files.read_yaml(Path(__file__).with_name("calls.yaml"))


def test_what_pytorch_refuses_is_refused_in_a_sentence() -> None:
    reasons = one_call.refusals(CALLS["refused"])
    assert len(reasons) >= 700
    silent = [
        line for line, why in zip(CALLS["refused"], reasons, strict=True) if why is None
    ]
    assert silent == []


def test_what_pytorch_takes_is_taken() -> None:
    reasons = one_call.refusals(CALLS["taken"])
    assert len(reasons) >= 600
    refused = {
        line: why
        for line, why in zip(CALLS["taken"], reasons, strict=True)
        if why is not None
    }
    assert refused == {}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("aten::exp.out(f32[2], s32[2])", "the output's dtype cannot hold the result"),
        ("aten::add.out(s8[2], s8[2], 300, s8[2])", "the dtype cannot hold it"),
        ("aten::add.out(s8[2], s8[2], 2.5, s8[2])", "cannot have a float alpha"),
        ("aten::flip.out(f32[2,3], [1,-1], f32[2,3])", "a dimension is named twice"),
        ('aten::gelu.out(f32[2], "foo", f32[2])', "must be none or tanh"),
    ],
)
def test_the_sentence_says_why(line: str, why: str) -> None:
    [said] = one_call.refusals([line])
    assert said is not None
    assert why in said
