# SPDX-License-Identifier: Apache-2.0
"""The passes view and concat: copies that become places in other memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_programs import KNOWN, NUMBERS, call, names_of, one_method, tensor

from ember import program
from ember.firmware.repack import repack
from ember.model import Model
from ember.plan import passes
from ember.program import types

ROWS = types.Int(0), types.Int(1), types.Int(2), types.Int(4)  # values 0 to 3


def sliced(*, dim: int = 0, late: bool = False) -> Model:
    """y = relu(relu(x)[1:2] along dim) + relu(x)[..]; `late` changes relu(x) before."""
    shape = (4, 4)
    part = (1, 4) if dim == 0 else (4, 1)
    values: list[types.Value] = [
        *ROWS,
        tensor(0, shape),
        tensor(64, shape),
        tensor(128, part),
        tensor(192, part),
        tensor(256, part),
    ]
    calls: list[types.Instruction] = [
        call("relu", 4, 5),
        call("slice", 5, dim, 1, 2, 1, 6),
        call("relu", 6, 7),
        call("add", 7, 6, 1, 8),
    ]
    if late:  # relu(x) is written again while the slice is still needed
        calls.insert(2, call("relu", 4, 5))
    return one_method(values, calls, (4,), (8,))


def test_a_slice_of_rows_becomes_a_view() -> None:
    improved = repack(sliced(), KNOWN, ("view",))
    (method,) = improved.program.methods
    assert names_of(method) == ["aten::relu.out", "aten::relu.out", "aten::add.out"]
    outer, inner = method.values[5], method.values[6]
    assert isinstance(outer, types.Tensor)
    assert isinstance(inner, types.Tensor)
    assert outer.allocation is not None
    assert inner.allocation is not None
    assert inner.allocation.offset == outer.allocation.offset + 16
    assert improved.origins == {"forward": (0, 2, 3)}


def test_a_slice_of_columns_stays() -> None:
    improved = repack(sliced(dim=1), KNOWN, ("view",))
    assert [outcome.status for outcome in improved.passes] == ["idle"]


def test_a_copy_of_what_changes_stays() -> None:
    improved = repack(sliced(late=True), KNOWN, ("view",))
    assert [outcome.status for outcome in improved.passes] == ["idle"]


def test_an_input_is_not_shown_as_an_output() -> None:
    model = sliced()
    (method,) = model.program.methods
    calls = (call("slice", 4, 0, 1, 2, 1, 6),)
    method = replace(method, chains=(types.Chain(calls),), outputs=(6,))
    shown = replace(model.program, methods=(method,))
    model = replace(model, program=shown, content=program.write(shown))
    improved = repack(model, KNOWN, ("view",))
    assert [outcome.status for outcome in improved.passes] == ["idle"]


def joined(*, dim: int = 0, twice: bool = False, state: bool = False) -> Model:
    """y = cat(relu(x), relu(z)); z is x, a state, or the first part again."""
    part, whole = ((2, 3), (4, 3) if dim == 0 else (2, 6))
    values: list[types.Value] = [
        types.Int(0),
        types.Int(1),
        tensor(0, part),
        tensor(64, part),
        tensor(128, part),
        types.TensorList((3, 3) if twice else (3, 4)),
        tensor(192, whole),
        tensor(256, whole),
        tensor(320, part),
    ]
    calls: list[types.Instruction] = [
        call("relu", 2, 3),
        call("mul", 3, 3, 4),
        call("cat", 5, dim, 6),
        call("relu", 6, 7),
    ]
    outputs = (7, 3)
    if state:
        values[5] = types.TensorList((3, 8))
        calls.append(types.KernelCall(NUMBERS["copy_"], (8, 4, 0, 8)))
    return one_method(values, calls, (2,), outputs)


def test_what_is_concatenated_lies_inside_the_result() -> None:
    improved = repack(joined(), KNOWN, ("concat",))
    (method,) = improved.program.methods
    assert names_of(method) == ["aten::relu.out", "aten::mul.out", "aten::relu.out"]
    places = [method.values[value].allocation.offset for value in (6, 3, 4)]  # type: ignore[union-attr]
    assert places == [places[0], places[0], places[0] + 24]
    assert (
        improved.program.methods[0].planned_bytes
        < joined().program.methods[0].planned_bytes
    )
    # What it wrote is read again: packing it once more changes nothing.
    again = repack(replace(improved, stock=None), KNOWN, passes.NAMES)
    assert again.program == improved.program


@pytest.mark.parametrize("options", [{"dim": 1}, {"twice": True}, {"state": True}])
def test_a_concatenation_that_must_copy_stays(options: dict[str, int]) -> None:
    improved = repack(joined(**options), KNOWN, ("concat",))  # type: ignore[arg-type]
    assert [outcome.status for outcome in improved.passes] == ["idle"]


def test_a_merge_that_raises_the_peak_is_not_made() -> None:
    # The part is alive for long, and the whole is large: apart they need less.
    values: list[types.Value] = [
        types.Int(0),
        tensor(0, (4,)),
        tensor(64, (4,)),
        tensor(128, (60,)),
        tensor(512, (64,)),
        tensor(1024, (64,)),
        types.TensorList((2, 3)),
        tensor(2048, (60,)),
        tensor(3072, (120,)),
        tensor(4096, (120,)),
        tensor(5120, (120,)),
    ]
    calls: list[types.Instruction] = [
        call("relu", 1, 2),
        call("relu", 8, 9),
        call("relu", 9, 10),
        call("relu", 7, 3),
        call("cat", 6, 0, 4),
        call("relu", 4, 5),
    ]
    model = one_method(values, calls, (1, 7, 8), (5, 10), size=8192)
    before = repack(model, KNOWN).program.methods[0].planned_bytes
    improved = repack(model, KNOWN, ("concat",))
    assert improved.program.methods[0].planned_bytes <= before
