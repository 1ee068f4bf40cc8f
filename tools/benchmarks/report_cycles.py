# SPDX-License-Identifier: Apache-2.0
"""Estimates of cycles become their part of docs/performance.md."""

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
# Millions of cycles that others state for silicon: engine and board.
_SILICON = (
    ("X-CUBE-AI, Cortex-M4", 19.8, 5.18, 10.7, 0.63),
    ("Plumerai, Cortex-M4", None, None, None, 0.49),
    ("CMSIS-NN, STM32L4R5 (Cortex-M4)", 46.8, 11.98, 36.1, 1.03),
    ("X-CUBE-AI, STM32H7A3 (Cortex-M7)", 11.4, None, None, None),
)
_HEAD = """
## Cycles of int8 models

Estimates ([how, and how far they are right](measuring.md#cycles-an-estimate)) with
memories that never let the core wait, of whole programs as they are exported. *MACs a
cycle* is of the whole execution; *limit* is what the core's multiplier does: 2 on M4
and M7, 8 on M55. CMSIS-NN is only its kernels, by GCC 12 at -Ofast, estimated alike.

"""
_SILICON_HEAD = """
### Published, on silicon

Not measured here, and with waits of flash: what others state for these four networks,
in millions of cycles. Boards, compilers and versions differ.

"""
_LAYERS_HEAD = """
### Layer by layer

Every layer with products, by what it takes; a layer far from the limit is what to
improve next. Of `ember::winograd_conv2d` stand the products of the convolution, of
which it makes 16 in 36.

"""


def section(costs: Sequence[Cost]) -> str:
    return (
        _HEAD
        + _whole(costs)
        + _SILICON_HEAD
        + _silicon()
        + _LAYERS_HEAD
        + _layers(costs)
    )


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


def _silicon() -> str:
    head = ["", "ResNet8", "DS-CNN", "MobileNetV1 0.25", "autoencoder"]
    rows = [
        [engine, *("-" if cycles is None else f"{cycles}" for cycles in numbers)]
        for engine, *numbers in _SILICON
    ]
    return table(head, rows, left=1)


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
