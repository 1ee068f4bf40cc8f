#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated machines -> weights.npz, recorded.npz, front.pte, network.pte.

    train.py [--epochs N]
    train.py --record      with the weights that are here

Trains the autoencoder on sound machines only, records other machines with faults,
and writes what PyTorch's model says of each frame beside them. Needs PyTorch.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import machines
import numpy as np
import torch

HERE = Path(__file__).parent
SDK = HERE.parents[2] / "sdk"
sys.path.insert(0, str(SDK))

import model  # noqa: E402

TRAINED_ON, SECONDS = 120, 24  # machines, and how long each runs
RECORDED = 4  # machines
LEARNED, PART = 12.8, 1.6  # seconds at the start, and of each part that follows


def fit(monitor: model.Monitor, epochs: int) -> float:
    """Train on sound machines; the mean score that remains."""
    x = model.sound(np.random.default_rng(1), TRAINED_ON, SECONDS)
    monitor.front.deviation.copy_(x.std(0))
    x = x / monitor.front.deviation
    network = monitor.autoencoder
    steps = epochs * (len(x) // 256)
    optimiser = torch.optim.AdamW(network.parameters(), weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
    for _ in range(steps):
        batch = x[torch.randint(len(x), (256,))]
        loss = model.score(batch, network(batch)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return float(model.score(x, network(x)).mean())


def parts(random: np.random.Generator) -> list[machines.Part]:
    """Every fault once, each after a time in which the machine is sound."""
    recorded = [machines.Part("sound", LEARNED)]
    for fault in random.permutation(machines.FAULTS):
        severity = float(random.uniform(0.6, 1.2))
        recorded += [machines.Part(str(fault), PART, severity)]
        recorded += [machines.Part("sound", PART)]
    return recorded


def scores(monitor: model.Monitor, samples: np.ndarray) -> np.ndarray:
    """What PyTorch's model in floating point says of each frame.

    As firmware/detector.h has it: the first frame has too few samples, the next ones
    make the usual bands.
    """
    monitor.front.bands.reset()
    said, seen = [], []
    usual = torch.zeros(1, model.BANDS)
    with torch.no_grad():
        for number, hop in enumerate(model.hops(samples)):
            now, x, y = monitor(hop, usual)
            said.append(model.score(x, y))
            seen.append(now)
            if number == model.USUAL:
                usual = torch.cat(seen[1:]).mean(0, keepdim=True)
    return torch.cat(said).numpy()


def record(monitor: model.Monitor) -> None:
    random = np.random.default_rng(2)
    kept = {}
    for number in range(RECORDED):
        source, follow = machines.machine(random), parts(random)
        samples = machines.record(source, follow, random)
        kept[f"samples{number}"] = samples
        kept[f"parts{number}"] = np.array([part.name for part in follow])
        kept[f"seconds{number}"] = np.array([part.seconds for part in follow])
        kept[f"scores{number}"] = scores(monitor, samples)
    np.savez_compressed(HERE / "recorded.npz", **kept)


def export() -> None:
    """front.pte in floating point, network.pte in int8."""
    _ember({"FRONT": "1"}, "-o", "front.pte")
    _ember({}, "-o", "network.pte", "--quantize", "int8")


def _ember(variables: dict[str, str], *words: str) -> None:
    command = [sys.executable, "-m", "ember", "export", "model.py", *words]
    command += ["--board", "mps2-an386"]
    environment = {**os.environ, "PYTHONPATH": str(SDK), **variables}
    subprocess.run(command, cwd=HERE, env=environment, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--record", action="store_true", help="leave the weights")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if not options.record:
        monitor = model.Monitor()
        print(f"score of sound machines: {fit(monitor, options.epochs):.4f}")
        weights = {name: w.numpy() for name, w in monitor.state_dict().items()}
        np.savez_compressed(HERE / "weights.npz", **weights)
    record(model.trained())
    export()


if __name__ == "__main__":
    main()
