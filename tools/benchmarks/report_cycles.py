# SPDX-License-Identifier: Apache-2.0
"""Estimates of cycles become tables of docs/performance.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.cycles import Cost, Layer
from benchmarks.markdown import number, table

# Multiply-accumulates of int8 in a cycle, if a core did nothing else: two by SMLAD;
# eight by VMLADAVA, which takes two cycles for sixteen lanes.
_LIMIT = {"m4": 2, "m7": 2, "m55": 8}
# CMSIS-NN: only its kernels, in the order of the network, by GCC 12 at -Ofast; an
# estimate made in the same way.
_PEER = {
    ("resnet8", "m4"): 36_200_000,
    ("ds_cnn", "m4"): 9_280_000,
    ("mobilenet_v1", "m4"): 29_600_000,
    ("autoencoder", "m4"): 711_000,
}


def tables(costs: Sequence[Cost]) -> dict[str, str]:
    return {
        "## Cycles of int8 models": _whole(costs),
        "### Layer by layer": _layers(costs),
    }


def _whole(costs: Iterable[Cost]) -> str:
    head = ["model", "core", "MACs", "instructions", "cycles", "MACs a cycle"]
    head += ["of the limit", "CMSIS-NN, cycles"]
    rows = []
    for cost in costs:
        macs = sum(layer.macs for layer in cost.layers)
        each = macs / cost.execute
        numbers = map(number, (macs, cost.instructions, cost.execute))
        share = f"{each:.2f}", f"{100 * each / _LIMIT[cost.core]:.0f} %"
        peer = number(_PEER.get((cost.name, cost.core)))
        rows.append([cost.name, cost.core.upper(), *numbers, *share, peer])
    return table(head, rows, left=2)


def _layers(costs: Iterable[Cost]) -> str:
    head = ["model", "core", "node", "operator", "MACs", "cycles", "MACs a cycle"]
    head += ["of the limit"]
    rows = [
        [cost.name, cost.core.upper(), *_cells(layer, _LIMIT[cost.core])]
        for cost in costs
        for layer in cost.layers
        if layer.macs
    ]
    return table(head, rows, left=2)


def _cells(layer: Layer, limit: int) -> list[str]:
    each = layer.macs / layer.cycles if layer.cycles else 0.0
    return [
        str(layer.node),
        layer.operator,
        number(layer.macs),
        number(layer.cycles),
        f"{each:.2f}",
        f"{100 * each / limit:.0f} %",
    ]
