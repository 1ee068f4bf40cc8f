# SPDX-License-Identifier: Apache-2.0
"""The baseline of packets on Hexagon becomes a section of the page of figures."""

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

_HEAD = """
## Hexagon

Packets of `tools/bench hvx` on `hexagon-v68`: layers and models of the `cortex_m`
dialect, programs with delegates to XNNPACK (`xnnpack_*`, whole, with what is not
delegated), and of `tools/bench hvx --whole` five int8 models as exported for Cortex-M4.
A packet holds one to four instructions; it is
[not a cycle](hexagon.md#what-is-emulated).

"""
_NOTES = """
- *Halide's hannk*: an indication. Its numbers are unsigned with one scale for a tensor,
  its weights lie packed before a run, and its outputs were not reproduced. Ember's have
  a scale for each filter where the operator has, and are those of portable C, bit by
  bit.
- `tools/bench hvx --check` fails when a figure is more than 2 % worse than
  [the baseline](../tools/benchmarks/hvx.json), which this table shows
  (`tools/bench report --hexagon`).
"""


def section(costs: list[Cost]) -> str:
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
    return _HEAD + table(_COLUMNS, rows, left=1) + _NOTES
