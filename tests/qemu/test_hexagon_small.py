"""Small int8 calls of random shapes: Hexagon's vectors take them only where they take
no more packets than portable C."""

from __future__ import annotations

import committed_cases
import pytest
from vector_packets import slower, with_and_without

from ember import cases

pytestmark = [pytest.mark.qemu, pytest.mark.slow, pytest.mark.broad]

# What only moves data calls functions that also ask whether bytes are many; softmax
# takes the fewer packets the more numbers repeat.
_SOME = ("pad_", "transpose_transpose", "softmax")
_MOST = 1.1
_TABLE = 2  # packets for one candidate more


def most(name: str, before: int) -> float:
    return before * (_MOST if any(word in name for word in _SOME) else 1.0) + _TABLE


def test_small_layers_take_no_more_packets_than_portable_c() -> None:
    pools = committed_cases.script(committed_cases.NUMPY / "pools.py")
    layers = committed_cases.of_dialect("cortex_m::")
    vectors, portable = with_and_without(cases.find([*layers, pools]))
    assert len(vectors) > 150
    assert slower(vectors, portable, most) == []
