# SPDX-License-Identifier: Apache-2.0
"""The baseline of packets on Hexagon becomes a table of the page of figures."""

from __future__ import annotations

from benchmarks.hvx import Cost
from benchmarks.markdown import number, table

# Packets of Halide's convolutions (hannk) for the same sizes, in the same emulator.
PEER = {
    "linear 128x1024x1024": 785_076,
    "conv 3x3 32->32 on 16x16": 58_998,
    "conv 3x3 64->64 on 8x8": 28_496,
}
_COLUMNS = ["int8", "MAC", "packets", "MAC per packet", "Halide's hannk, packets"]


def tables(costs: list[Cost]) -> dict[str, str]:
    rows = [
        [
            cost.name,
            number(cost.macs),
            number(cost.packets),
            f"{cost.each:.1f}",
            number(PEER[cost.name]) if cost.name in PEER else "",
        ]
        for cost in costs
    ]
    return {"## Hexagon": table(_COLUMNS, rows, left=1)}
