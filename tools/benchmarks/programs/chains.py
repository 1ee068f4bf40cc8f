# SPDX-License-Identifier: Apache-2.0
"""Writes add100.pte and add200.pte beside itself: chains of additions of one float.

    python tools/benchmarks/programs/chains.py       needs torch and executorch

What a call costs is the slope between the two; what a program costs once falls out.
"""

from __future__ import annotations

from pathlib import Path

import torch
from executorch.exir import to_edge
from torch.export import export

LENGTHS = (100, 200)


class Chain(torch.nn.Module):
    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(self.length):
            x = x + y
        return x


def main() -> None:
    for length in LENGTHS:
        exported = export(Chain(length), (torch.ones(1), torch.ones(1)))
        manager = to_edge(exported).to_executorch()
        path = Path(__file__).with_name(f"add{length}.pte")
        path.write_bytes(manager.buffer)
        print(f"{path.name}: {len(manager.buffer):,} bytes")


if __name__ == "__main__":
    main()
