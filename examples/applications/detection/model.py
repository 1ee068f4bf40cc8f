# SPDX-License-Identifier: Apache-2.0
"""Rows of a camera -> gray pixels of 8 bits, and those of a frame -> boxes.

They are two programs, as a camera has it: the front end takes STRIP rows at a time, the
network a whole frame. `ember export model.py --quantize int8 --io int8` finds the
network; with the variable FRONT=1, the front end, whose numbers are whole.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scenes
import torch
from boxes import SIDES
from scenes import CLASSES, COLUMNS, LEFT, ROWS, SIDE
from torch import Tensor, nn

from ember.frontends import RGB565, Crop, Resize

HERE = Path(__file__).parent
STRIP = 5  # rows of the camera that make STRIP_OUT of the network, of no others
STRIP_OUT = STRIP * SIDE // ROWS


def front(rows: int) -> nn.Sequential:
    """(rows, COLUMNS) pixels -> (rows * SIDE / ROWS, SIDE), uint8."""
    return nn.Sequential(
        Crop(0, LEFT, rows, ROWS),
        RGB565(gray=True),
        Resize(rows * SIDE // ROWS, SIDE),
    )


def seen(frames: Tensor) -> Tensor:
    """(n, ROWS, COLUMNS) pixels -> the network's input, -1 to 1, (n, 1, SIDE, SIDE)."""
    return ((front(ROWS)(frames).float() - 128) / 128)[:, None]


def _block(inputs: int, outputs: int, stride: int) -> list[nn.Module]:
    """A depthwise convolution and a pointwise one."""
    depthwise = nn.Conv2d(
        inputs, inputs, 3, stride=stride, padding=1, groups=inputs, bias=False
    )
    pointwise = nn.Conv2d(inputs, outputs, 1, bias=False)
    norms = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
    return [depthwise, norms[0], nn.ReLU(), pointwise, norms[1], nn.ReLU()]


class Detector(nn.Module):
    """(n, 1, SIDE, SIDE) -> of each of CELLS x CELLS cells of 8 x 8 pixels:

    scores  (n, classes, CELLS, CELLS): above 0 where a box of the class has its middle
    sides   (n, 4, CELLS, CELLS): from the cell's centre to the box's left, top, right
            and bottom, in cells
    """

    def __init__(self) -> None:
        super().__init__()
        first = nn.Conv2d(1, 8, 3, stride=2, padding=1, bias=False)
        layers = [first, nn.BatchNorm2d(8), nn.ReLU(), *_block(8, 16, 2)]
        layers += [*_block(16, 32, 1), *_block(32, 48, 2)]
        for inputs, outputs in ((48, 64), (64, 64), (64, 64), (64, 64)):
            layers += _block(inputs, outputs, 1)
        self.body = nn.Sequential(*layers)
        self.scores = nn.Conv2d(64, len(CLASSES), 1)
        self.sides = nn.Conv2d(64, SIDES, 1)
        nn.init.constant_(self.scores.bias, -3.0)  # most cells have no box
        nn.init.constant_(self.sides.bias, 2.0)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        features = self.body(image)
        return self.scores(features), self.sides(features)


def trained() -> Detector:
    detector = Detector()
    with np.load(HERE / "weights.npz") as weights:
        detector.load_state_dict({k: torch.from_numpy(w) for k, w in weights.items()})
    return detector.eval()


def frames_of(drawn: list[scenes.Scene]) -> Tensor:
    return torch.from_numpy(np.stack([scene.frame for scene in drawn]))


if os.environ.get("FRONT"):
    model: object = lambda: front(STRIP)  # noqa: E731
    example_inputs = (torch.zeros(STRIP, COLUMNS, dtype=torch.int16),)
else:
    model = trained
    example_inputs = (torch.zeros(1, 1, SIDE, SIDE),)
