#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packaged pictures -> held_out.npz, weights.npz, references.npz and the programs.

    train.py [--epochs N] [--scenes N]
    train.py --record      with the weights that are here

Draws scenes, trains on what the front end makes of them, and writes what PyTorch's
model in floating point finds in the recording. Needs PyTorch, scikit-image,
scikit-learn and Pillow.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

HERE = Path(__file__).parent
SDK = HERE.parents[2] / "sdk"
sys.path.insert(0, str(SDK))

import boxes  # noqa: E402
import model  # noqa: E402
import scenes  # noqa: E402
import sources  # noqa: E402
from boxes import CELLS  # noqa: E402

BATCH = 32
VALIDATED, CALIBRATED = 300, 64  # frames
# Of each folder: a board with the core that its program is for.
CORES = {"m4": "mps2-an386", "m55": "mps3-an547"}
CENTRE = 0.5  # cells this far from the middle of a box, of its halves, have it
Targets = tuple[Tensor, Tensor]


def targets(drawn: Sequence[scenes.Scene]) -> Targets:
    """What the network should say: scores 0 or 1, and sides, 0 where there are none."""
    scores = np.zeros((len(drawn), len(scenes.CLASSES), CELLS, CELLS), np.float32)
    sides = np.zeros((len(drawn), boxes.SIDES, CELLS, CELLS), np.float32)
    for number, scene in enumerate(drawn):
        for box in scene.boxes:
            for row, column in _cells(box):
                x, y = column + 0.5, row + 0.5
                scores[number, box.kind, row, column] = 1
                edges = np.array([box.left, box.top, box.right, box.bottom]) / 8
                sides[number, :, row, column] = (edges - [x, y, x, y]) * [-1, -1, 1, 1]
    return torch.from_numpy(scores), torch.from_numpy(sides)


def _cells(box: scenes.Box) -> list[tuple[int, int]]:
    """Those near the middle, at least one."""
    x, y = (box.left + box.right) / 16, (box.top + box.bottom) / 16
    reach = CENTRE * (box.right - box.left) / 16
    near = [
        (row, column)
        for row in range(CELLS)
        for column in range(CELLS)
        if max(abs(row + 0.5 - y), abs(column + 0.5 - x)) <= reach
    ]
    return near or [(min(int(y), CELLS - 1), min(int(x), CELLS - 1))]


def loss(said: tuple[Tensor, Tensor], wanted: Targets) -> Tensor:
    """A focal loss of scores, and one less the overlap of boxes."""
    scores, sides = wanted
    plain = functional.binary_cross_entropy_with_logits(
        said[0], scores, reduction="none"
    )
    sure = torch.where(scores > 0, said[0].sigmoid(), 1 - said[0].sigmoid())
    weight = (1 - sure) ** 1.5
    there = scores.amax(1) > 0
    ours, theirs = (x.permute(0, 2, 3, 1)[there] for x in (said[1], sides))
    return (weight * plain).sum() / there.sum() + _apart(ours, theirs).mean()


def _apart(ours: Tensor, theirs: Tensor) -> Tensor:
    """1 - IoU of boxes around a cell's centre, and a little of how far sides are."""
    positive = ours.clamp(min=0.01)
    both = torch.minimum(positive, theirs)
    width, height = both[:, 0] + both[:, 2], both[:, 1] + both[:, 3]
    area = [(x[:, 0] + x[:, 2]) * (x[:, 1] + x[:, 3]) for x in (positive, theirs)]
    iou = width * height / (area[0] + area[1] - width * height)
    away = functional.smooth_l1_loss(ours, theirs, reduction="none").mean(1)
    return 1 - iou + 0.2 * away


def fit(
    detector: model.Detector, learned: scenes.Sources, count: int, epochs: int
) -> None:
    random = np.random.default_rng(1)
    drawn = [scenes.scene(learned, random) for _ in range(count)]
    images = torch.cat([model.seen(x) for x in model.frames_of(drawn).split(500)])
    images = (images * 128).to(torch.int8)
    wanted = targets(drawn)
    steps = epochs * (count // BATCH)
    optimiser = torch.optim.AdamW(detector.parameters(), weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 8e-3, total_steps=steps)
    for epoch in range(epochs):
        detector.train()
        total = 0.0
        for chosen in torch.randperm(count)[: count // BATCH * BATCH].split(BATCH):
            now = images[chosen].float() / 128
            now = now.contiguous(memory_format=torch.channels_last)
            cost = loss(detector(now), (wanted[0][chosen], wanted[1][chosen]))
            optimiser.zero_grad()
            cost.backward()
            optimiser.step()
            schedule.step()
            total += float(cost)
        print(f"epoch {epoch + 1}: {total / (count // BATCH):.3f}", flush=True)
    detector.eval()


@torch.no_grad()
def detected(
    detector: model.Detector, drawn: Sequence[scenes.Scene]
) -> list[list[boxes.Found]]:
    """What the model in floating point finds in each frame."""
    parts = [detector(x) for x in model.seen(model.frames_of(list(drawn))).split(50)]
    scores, sides = (
        torch.cat(part).double().numpy() for part in zip(*parts, strict=True)
    )
    return [boxes.decode(*cells) for cells in zip(scores, sides, strict=True)]


def report(name: str, told: list, drawn: Sequence[scenes.Scene]) -> None:
    there = [boxes.of_scene(scene) for scene in drawn]
    score = boxes.score(told, there)
    print(
        f"{name}: F1 {score.f1:.2%}, {score.right} of {score.objects} objects,"
        f" {score.reported - score.right} wrong boxes, average precision"
        f" {boxes.average_precision(told, there):.2%}",
        flush=True,
    )


def record(detector: model.Detector) -> None:
    recording = scenes.recording()
    told = detected(detector, recording)
    report("recording", told, recording)
    rows = [
        (number, x.kind, x.left, x.top, x.right, x.bottom)
        for number, frame in enumerate(told)
        for x in frame
    ]
    np.savez_compressed(
        HERE / "references.npz",
        boxes=np.array(rows, np.int16),
        scores=np.array([x.score for frame in told for x in frame], np.float32),
        checksum=np.uint32(scenes.checksum(recording)),
    )


def export(calibration: Tensor) -> None:
    """front.pte, which every board runs, and a network for each kind of core."""
    _ember({"FRONT": "1"}, "front.pte", "mps2-an386")
    with tempfile.TemporaryDirectory() as folder:
        inputs = str(Path(folder) / "inputs.npy")
        np.save(inputs, calibration.numpy())
        for core, board in CORES.items():
            (HERE / core).mkdir(exist_ok=True)
            words = ["--quantize", "int8", "--io", "int8", "--calibrate", inputs]
            _ember({}, f"{core}/network.pte", board, *words)


def calibration(drawn: Sequence[scenes.Scene]) -> Tensor:
    """Inputs of the network; one has the darkest and the lightest pixel there are, so
    that a step of the int8 input is one of a pixel."""
    inputs = model.seen(model.frames_of(drawn[:CALIBRATED]))
    inputs[0, 0, 0, :2] = torch.tensor([-1.0, 127 / 128])
    return inputs


def _ember(variables: dict[str, str], out: str, board: str, *words: str) -> None:
    command = [sys.executable, "-m", "ember", "export", "model.py", "-o", out]
    command += ["--board", board, *words]
    environment = {**os.environ, "PYTHONPATH": str(SDK), **variables}
    subprocess.run(command, cwd=HERE, env=environment, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=32)
    parser.add_argument("--scenes", type=int, default=12000)
    parser.add_argument("--record", action="store_true", help="leave the weights")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    learned = sources.learned()
    if not options.record:
        started = time.monotonic()
        sources.write_held_out()
        detector = model.Detector().to(memory_format=torch.channels_last)
        fit(detector, learned, options.scenes, options.epochs)
        weights = {name: w.numpy() for name, w in detector.state_dict().items()}
        np.savez_compressed(HERE / "weights.npz", **weights)
        print(f"trained in {time.monotonic() - started:.0f} s", flush=True)
    random = np.random.default_rng(2)
    drawn = [scenes.scene(learned, random) for _ in range(VALIDATED)]
    report("pictures of training", detected(model.trained(), drawn), drawn)
    record(model.trained())
    export(calibration(drawn))


if __name__ == "__main__":
    main()
