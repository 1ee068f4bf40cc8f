# SPDX-License-Identifier: Apache-2.0
"""Estimated cycles of int8 models, by core, with a baseline.

The small models are committed; the whole ones, of MLPerf Tiny, are exported where they
lack. What got worse names the kernel.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from committed_cases import path_of

from benchmarks import int8, models
from benchmarks.int8 import CORES, LIMIT
from ember.firmware import Options
from ember.run import profile

_NETWORKS = ("resnet8", "ds_cnn", "mobilenet_v1", "autoencoder")
_SPEED = " --optimize speed"  # behind a network's name
WHOLE = (
    *itertools.product(_NETWORKS, int8.CHECKED),
    ("resnet8", "m7"),
    *itertools.product(("resnet8" + _SPEED,), ("m4", "m7")),
)
SMALL = tuple(itertools.product(int8.SMALL, int8.CHECKED))
_BASELINE = Path(__file__).with_name("cycles.json")


@dataclass(frozen=True)
class Layer:
    node: int
    operator: str
    macs: int
    cycles: int


@dataclass(frozen=True)
class Cost:
    name: str
    core: str
    instructions: int
    execute: int  # cycles, with memories that never let the core wait
    here: int  # with those of the emulated board
    load: int
    kernels: Mapping[str, int]  # cycles by operator and its kernels
    layers: tuple[Layer, ...] = ()  # in order; not part of the baseline


def measure_whole(folder: Path) -> list[Cost]:
    cases = [
        models.exported(f"int8_{name.removesuffix(_SPEED)}_{CORES[core][1]}")
        for name, core in WHOLE
    ]
    return [
        _cost(case, *model, folder) for case, model in zip(cases, WHOLE, strict=True)
    ]


def measure_small(folder: Path) -> list[Cost]:
    return [
        _cost(path_of(f"int8_{name}_small_{core}"), f"{name}_small", core, folder)
        for name, core in SMALL
    ]


def _cost(case: Path, name: str, core: str, folder: Path) -> Cost:
    fast = name.endswith(_SPEED)
    options = Options(optimize="speed") if fast else Options()
    out = folder / f"{name.replace(' ', '_')}_{core}"
    _, log = models.executed(case, CORES[core][0], out, options, cycles=True)
    measured = profile.of_run(log)
    return Cost(
        name=name,
        core=core,
        instructions=measured.execute,
        execute=measured.execute_cycles or 0,
        here=measured.execute_board_cycles or 0,
        load=measured.load_cycles or 0,
        kernels={int8.title(row): row.cycles or 0 for row in measured.operators},
        layers=tuple(
            Layer(row.nodes[0], row.name, row.macs, row.cycles or 0)
            for row in sorted(measured.nodes, key=lambda row: row.nodes)
        ),
    )


# ---- the baseline --------------------------------------------------------------------


def write_baseline(costs: Iterable[Cost]) -> None:
    """Replaces the rows of what was measured; others stay."""
    after = {(cost.name, cost.core): asdict(cost) for cost in [*baseline(), *costs]}
    rows = [after[key] for key in sorted(after)]
    for row in rows:
        del row["layers"]
    _BASELINE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def baseline() -> list[Cost]:
    rows = json.loads(_BASELINE.read_text(encoding="utf-8"))
    return [Cost(**row) for row in rows]


def worse(costs: Iterable[Cost], before: Iterable[Cost]) -> list[str]:
    """A sentence for each figure that is more than 2 % above the baseline."""
    old = {(cost.name, cost.core): cost for cost in before}
    sentences = []
    for cost in costs:
        where = f"cycles of int8 {cost.name} on {cost.core.upper()}"
        known = old.get((cost.name, cost.core))
        if known is None:
            sentences.append(f"{where}: the baseline lacks them; --update writes them")
            continue
        if cost.load > known.load * LIMIT:
            sentences.append(f"{where}: load is {cost.load:,}, was {known.load:,}")
        reasons = int8.slower(cost.kernels, known.kernels)
        if cost.execute > known.execute * LIMIT:
            sentence = f"{where}: execute is {cost.execute:,}, was {known.execute:,}"
            sentences.append("; ".join([sentence, *reasons]))
        else:
            sentences += [f"{where}: {reason}" for reason in reasons]
    return sentences
