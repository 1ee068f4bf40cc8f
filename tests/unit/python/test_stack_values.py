"""What single instructions do to the stack pointer, and sums of unknown values."""

from __future__ import annotations

import pytest

from ember.firmware.stack import a64, walk


@pytest.mark.parametrize(
    ("word", "moves"),
    [
        (0xA8C17BFD, ("add", 31, 16)),  # ldp x29, x30, [sp], #16
        (0x6DBF23E9, ("add", 31, -16)),  # stp d9, d8, [sp, #-16]!
        (0x6EBB1FFC, None),  # bit v28.16b, v31.16b, v27.16b
        (0x6EA0E7E1, None),  # fcmgt v1.4s, v31.4s, v0.4s
    ],
)
def test_vectors_of_number_31_are_no_stack(word: int, moves: object) -> None:
    sets = dict(a64.decode(word.to_bytes(4, "little"), 0).sets)
    assert sets.get(a64.SP) == moves


@pytest.mark.parametrize("kind", walk.UNKNOWN)
def test_nothing_is_added_to_what_is_not_known(kind: str) -> None:
    unknown, number = (kind, ("const", 4)), ("const", 8)
    assert walk.computed("sum", number, unknown) is None
    assert walk.computed("sum", unknown, number) is None
