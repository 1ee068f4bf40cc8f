"""Small int8 calls of random shapes: Hexagon's vectors take them only where they take
no more packets than portable C."""

from __future__ import annotations

import pytest
from committed import INT8_LAYERS, OPERATORS, check

from ember import boards, cases
from ember.run import testing
from ember.run.testing import Outcome
from ember.toolchain import emulator

pytestmark = [pytest.mark.qemu, pytest.mark.slow, pytest.mark.broad]

# What only moves data calls functions that also ask whether bytes are many; softmax
# takes the fewer packets the more numbers repeat.
_SOME = ("pad_", "transpose_transpose", "softmax")
_MOST = 1.1
_TABLE = 2  # packets for one candidate more


def outcomes(board: boards.Board) -> dict[str, Outcome]:
    if not emulator.available(board):
        pytest.skip(f"{board.runner.binary} is not installed")
    pools = [folder / "pools" for folder in OPERATORS if folder.name == "numpy"]
    results = testing.test(cases.find([*INT8_LAYERS, *pools]), [board], jobs=1)
    check(results)
    return {each.name: each for each in results}


def test_small_layers_take_no_more_packets_than_portable_c() -> None:
    board = boards.load("hexagon-v68")
    vectors = outcomes(board)
    portable = outcomes(board.model_copy(update={"isa": ()}))
    assert len(vectors) > 150
    slower = []
    for name, each in vectors.items():
        before, after = portable[name].instructions or 0, each.instructions or 0
        most = _MOST if any(word in name for word in _SOME) else 1.0
        if after > before * most + _TABLE:
            slower.append(f"{name}: {after} packets, {before} without")
    assert slower == []
