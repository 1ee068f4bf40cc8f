#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts of Debian and Python -> weights.npz, firmware/tokens.h, and the rest.

    train.py [--steps N]
    train.py --large [--steps N] [--out FOLDER]     10 million parameters

Then references.py writes the program and what PyTorch generates. Needs PyTorch.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from pathlib import Path

import model
import numpy as np
import text
import tokens
import torch
from torch.nn import functional

HERE = Path(__file__).parent
BATCH, LENGTH = 24, 128
RATE = 3e-3  # of learning, at its highest


def fit(writer: model.Writer, ids: torch.Tensor, steps: int) -> None:
    optimiser = torch.optim.AdamW(
        writer.parameters(), lr=RATE, weight_decay=0.05, betas=(0.9, 0.95)
    )
    for step in range(steps):
        warm = min(1.0, (step + 1) / 30)
        optimiser.param_groups[0]["lr"] = (
            RATE * warm * (0.04 + 0.96 * (1 + math.cos(math.pi * step / steps)) / 2)
        )
        at = torch.randint(len(ids) - LENGTH - 1, (BATCH,))
        rows = torch.stack([ids[start : start + LENGTH + 1] for start in at.tolist()])
        scores = writer.whole(rows[:, :-1])
        loss = functional.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
        optimiser.step()
        if (step + 1) % 50 == 0:
            spent = time.process_time()
            print(
                f"{step + 1} steps, {spent:.0f} s, loss {loss.item():.3f}", flush=True
            )


def held_out_loss(writer: model.Writer, ids: torch.Tensor) -> float:
    rows = ids[: len(ids) // 129 * 129].reshape(-1, 129)
    with torch.no_grad():
        scores = writer.whole(rows[:, :-1])
    loss = functional.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
    return float(loss)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    if options.large and options.out == HERE:
        parser.error("--large needs --out FOLDER: its weights are not committed")
    torch.manual_seed(0)
    if not options.large:
        torch.set_num_threads(1)  # sums in one order, and no time lost by waiting
    trained, held_out = text.trained_and_held_out()
    pairs = tokens.learn(trained)
    ids, kept = (
        torch.from_numpy(tokens.encode(text, pairs)) for text in (trained, held_out)
    )
    writer = model.Writer(model.LARGE if options.large else model.SMALL)
    count = sum(parameter.numel() for parameter in writer.parameters())
    print(f"{len(trained):,} characters, {len(ids):,} tokens, {count:,} parameters")
    fit(writer, ids, options.steps)
    bits = held_out_loss(writer, kept) / math.log(2) * len(kept) / len(held_out)
    print(f"held out: {bits:.2f} bits for a character")
    (options.out / "firmware").mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out / "weights.npz", **model.stored(writer))
    tokens.write(options.out / "firmware" / "tokens.h", pairs)
    words = [sys.executable, str(HERE / "references.py"), "--out", str(options.out)]
    subprocess.run([*words, *(["--large"] * options.large)], check=True)


if __name__ == "__main__":
    main()
