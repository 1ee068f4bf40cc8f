#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Find how much traffic of real models a small fast memory can keep, by CP-SAT.

Needs `pip install ortools`. Writes the problems and their proved optima, against which
tests/unit/python/test_spread.py holds the SDK's own search. The models are those that
tools/export_corpus.py wrote.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ortools.sat.python import cp_model

from ember import kernels, paths
from ember import model as models
from ember.firmware import repack
from ember.plan import lifetimes, offsets, traffic

MODELS = (
    *("model_mobilenet_v1", "model_mobilenet_v2", "model_mobilenet_v3"),
    *("model_unet", "model_resnet8", "model_ds_cnn", "model_lenet"),
    *("model_encoder", "model_torch_encoder", "model_language", "model_rotary"),
    *("model_mixer", "model_temporal", "model_lstm", "model_gru"),
)
PERCENT = (30, 50, 70)  # of the activations' peak
UNIT = 16  # bytes; every buffer starts at a multiple
SECONDS = 120
ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "tests" / "unit" / "python" / "data" / "placement.json"


def problem(path: Path) -> dict[str, Any]:
    """Size, life and traffic of every storage of a model's first method."""
    known = kernels.load()
    packed = repack.repack(models.read(path), known)
    method = packed.program.methods[0]
    storages = lifetimes.of(method, known).storages
    accesses = traffic.of(method, known, {})
    rows = []
    for storage in storages:
        first, last = min(storage.points), max(storage.points)
        assert storage.points == frozenset(range(first, last + 1))
        total = sum(accesses[v].bytes for v in storage.values if v in accesses)
        rows.append([storage.size, first, last, total])
    return {"model": path.name, "buffers": rows}


def optimum(buffers: list[list[int]], capacity: int) -> int:
    """The most traffic that buffers within `capacity` bytes can have."""
    model = cp_model.CpModel()
    room = capacity // UNIT
    times, places, sizes, kept = [], [], [], []
    for size, first, last, total in buffers:
        units = -(-size // UNIT)
        if units > room:
            continue
        chosen = model.new_bool_var("")
        start = model.new_int_var(0, room - units, "")
        life = last + 1 - first
        interval = model.new_optional_fixed_size_interval_var
        times.append(interval(first, life, chosen, ""))
        places.append(interval(start, units, chosen, ""))
        sizes.append(units)
        kept.append(total * chosen)
    model.add_no_overlap_2d(times, places)
    model.add_cumulative(times, sizes, room)
    model.maximize(sum(kept))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.max_time_in_seconds = SECONDS
    if solver.solve(model) != cp_model.OPTIMAL:
        raise SystemExit("no proved optimum")
    optimum: int = round(solver.objective_value)
    return optimum


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=paths.cache() / "corpus")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    problems = []
    for name in MODELS:
        solved = problem(options.corpus / name)
        rows = solved["buffers"]
        alive = [
            offsets.Buffer(row[0], frozenset(range(row[1], row[2] + 1))) for row in rows
        ]
        peak = offsets.lower_bound(alive)
        solved["optima"] = {}
        for percent in PERCENT:
            capacity = peak * percent // 100 // UNIT * UNIT
            solved["optima"][capacity] = optimum(rows, capacity)
        print(name, len(rows), peak, solved["optima"], flush=True)
        problems.append(solved)
    lines = ",\n".join(json.dumps(solved, separators=(",", ":")) for solved in problems)
    options.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
