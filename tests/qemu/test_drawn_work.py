"""Calls of random shapes take no more instructions than their bounds allow."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks import calls, work

TESTS = Path(__file__).parents[1]

pytestmark = [pytest.mark.qemu, pytest.mark.slow, pytest.mark.broad]


@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_drawn_calls_stay_within_their_bounds(board: str, tmp_path: Path) -> None:
    random.seed(17)
    for call in calls.distinct(calls.committed([TESTS / one for one in work.FOLDERS])):
        if (made := calls.other(call)) is not None:
            calls.write(tmp_path / call.name, made)
    ran = work.ran(tmp_path, board)
    assert len(ran) > 300
    over = work.over(ran, work.factors()[board])
    assert not over, "\n".join(over)
