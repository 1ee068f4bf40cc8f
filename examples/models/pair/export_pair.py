#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports two programs with two methods each, for examples/firmware/two_models.c.

Needs torch and executorch (pip install "ember[export]"). Writes smooth.pte, judge.pte
and expected.json: the first output element of each method for the ramp 0, 1/8, 2/8, ..
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from executorch.exir import to_edge
from torch import nn
from torch.export import export

HERE = Path(__file__).parent
SAMPLES = 16


class Smooth(nn.Module):
    """A signal without its noise."""

    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Conv1d(1, 1, 5, padding=2)

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        return self.filter(signal)


class Energy(nn.Module):
    """How strong a signal is."""

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        return (signal * signal).mean(2)


class Judge(nn.Module):
    """Which of four classes a signal belongs to."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(SAMPLES, 4)

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layer(signal), 1)


class Alarm(nn.Module):
    """Whether a signal is out of the ordinary: remembers the loudest one."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("loudest", torch.zeros(1))

    def forward(self, signal: torch.Tensor) -> torch.Tensor:
        self.loudest.copy_(torch.maximum(self.loudest, signal.abs().max()) + 1)
        return self.loudest * 1


def write(name: str, modules: dict[str, nn.Module], given: torch.Tensor) -> dict:
    programs = {key: export(module.eval(), (given,)) for key, module in modules.items()}
    (HERE / f"{name}.pte").write_bytes(to_edge(programs).to_executorch().buffer)
    rounds = [
        {key: float(module(given).flatten()[0]) for key, module in modules.items()}
        for _ in range(3)
    ]
    return {key: [results[key] for results in rounds] for key in modules}


def main() -> None:
    torch.manual_seed(0)
    ramp = torch.arange(SAMPLES) / 8
    answers = {}
    with torch.no_grad():
        signal = ramp.reshape(1, 1, SAMPLES)
        modules = {"forward": Smooth(), "energy": Energy()}
        answers["smooth"] = write("smooth", modules, signal)
        modules = {"forward": Judge(), "alarm": Alarm()}
        answers["judge"] = write("judge", modules, ramp.reshape(1, SAMPLES))
    text = json.dumps(answers, indent=2) + "\n"
    (HERE / "expected.json").write_text(text)


if __name__ == "__main__":
    main()
