# SPDX-License-Identifier: Apache-2.0
"""What int8 takes on Hexagon in packets: single layers, and the committed small models,
those with delegates to XNNPACK among them.

The results of layers are compared with those of the portable kernels, on the host,
bit by bit. What got worse names the layer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from committed_cases import path_of

from benchmarks import hvx_layers, int8, models
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import build
from ember.run import profile, run

BOARD = "hexagon-v68"
# Delegates whose programs are committed: convolutions and products in static int8,
# products in dynamic int8 and int4.
DELEGATES = (
    "xnnpack_mobilenet_v2_small_static",
    "xnnpack_resnet8_static",
    "xnnpack_cnn_static",
    "xnnpack_layer_depthwise_qs8",
    "xnnpack_layer_linear_qd8",
    "xnnpack_layer_linear_qc4",
    "xnnpack_layer_linear_qb4_32",
    "xnnpack_encoder_qd8",
)
# Exported on demand by tools/export_corpus.py: int8, as for Cortex-M4.
WHOLE = ("resnet8", "ds_cnn", "mobilenet_v1", "mobilenet_v2", "autoencoder")
LIMIT = 1.02
_BASELINE = Path(__file__).with_name("hvx.json")
_SEED = 11


@dataclass(frozen=True)
class Cost:
    name: str
    macs: int
    packets: int

    @property
    def each(self) -> float:
        """Multiplications per packet."""
        return self.macs / self.packets


def measure(folder: Path) -> list[Cost]:
    """Every layer, then the small models, then delegates."""
    layers = [layer_cost(layer, folder) for layer in hvx_layers.LAYERS]
    small = [
        _model(f"{name}_small", path_of(f"int8_{name}_small_m4"), folder)
        for name in int8.SMALL
    ]
    delegates = [_model(name, path_of(name), folder) for name in DELEGATES]
    return [*layers, *small, *delegates]


def measure_whole(folder: Path) -> list[Cost]:
    """The whole models, which are exported first where they lack."""
    return [
        _model(f"{name}, whole", models.exported(f"int8_{name}_m4"), folder)
        for name in WHOLE
    ]


def layer_cost(layer: hvx_layers.Layer, folder: Path) -> Cost:
    """Refused when the results are not those of portable C."""
    path = folder / f"{layer.title.replace(' ', '_').replace('>', '')}.pte"
    path.write_bytes(hvx_layers.written(layer))
    logs = [_run(path, board, folder) for board in (BOARD, "host")]
    if logs[0].outputs != logs[1].outputs:
        raise SdkError(f"{layer.title}: {BOARD} gives other bits than host")
    return Cost(layer.title, layer.macs, logs[0].execute or 0)


def _run(path: Path, board: str, folder: Path) -> run.RunLog:
    built = build(path, board, out=folder / f"{path.stem}_{board}")
    method = built.methods[0]
    random = np.random.default_rng(_SEED)
    given = [
        random.integers(-128, 128, value.sizes, np.int8)
        for value in method.input_tensors
    ]
    return run.run(built, inputs.lay_out(method, given))


def _model(title: str, case: Path, folder: Path) -> Cost:
    """Of those exported for Cortex-M4, padding of channels is an operator."""
    measured = profile.of_run(models.executed(case, BOARD, folder / case.name)[1])
    macs = sum(row.macs for row in measured.operators)
    return Cost(title, macs, measured.execute)


def write_baseline(costs: Iterable[Cost]) -> None:
    """What was not measured stays."""
    after = {cost.name: cost for cost in (*baseline(), *costs)}
    rows = [asdict(cost) for cost in after.values()]
    _BASELINE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def baseline() -> list[Cost]:
    rows = json.loads(_BASELINE.read_text(encoding="utf-8"))
    return [Cost(**row) for row in rows]


def worse(costs: Iterable[Cost], before: Iterable[Cost]) -> list[str]:
    """A sentence for each figure that is more than 2 % above the baseline."""
    old = {cost.name: cost.packets for cost in before}
    return [
        f"{cost.name} on Hexagon takes {cost.packets:,} packets, was {old[cost.name]:,}"
        for cost in costs
        if cost.packets > old.get(cost.name, cost.packets) * LIMIT
    ]
