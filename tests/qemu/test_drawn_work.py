"""Calls of random shapes and numbers take no more instructions than their bounds allow.

The factors were measured with other seeds (tools/bench work), so a bound that leaves
out what a kernel does fails here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import work
from calls import sizes

TESTS = Path(__file__).parents[1]
SEEDS = (17, 101)

pytestmark = [pytest.mark.qemu, pytest.mark.slow, pytest.mark.broad]


@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_drawn_calls_stay_within_their_bounds(board: str, tmp_path: Path) -> None:
    committed = list(sizes.committed(work.folders()))
    for seed in SEEDS:
        drawn = sizes.distinct(committed)
        work.write_drawn(tmp_path / str(seed), drawn, each=1, seed=seed)
    ran = work.ran(tmp_path, board)
    assert len(ran) > 600
    over = work.over(ran, work.factors()[board])
    assert not over, "\n".join(over)
