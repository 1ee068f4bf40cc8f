# SPDX-License-Identifier: Apache-2.0
"""BeatNet: 20 ms of a logarithmic spectrum -> beat, first beat or none. State."""

import numpy as np
import sounds
import torch
import weights
from torch import nn
from torch.nn import functional

PACKAGES = ("beatnet==1.1.3",)
RATE, HOP, BANDS, SIZE = 22050, 441, 136, 150


class Beats(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(1, 2, 10)
        self.linear0 = nn.Linear(262, SIZE)
        self.lstm = nn.LSTM(SIZE, SIZE, 2, batch_first=True)
        self.linear = nn.Linear(SIZE, 3)
        self.load_state_dict(
            weights.of_torch("beatnet", "BeatNet/models/model_1_weights.pt")
        )
        self.register_buffer("hidden", torch.zeros(2, 1, SIZE))
        self.register_buffer("cell", torch.zeros(2, 1, SIZE))

    def forward(self, spectrum: torch.Tensor) -> torch.Tensor:
        x = spectrum.reshape(-1, 2 * BANDS).unsqueeze(0).transpose(0, 1)
        x = functional.max_pool1d(functional.relu(self.conv1(x)), 2)
        x = self.linear0(x.view(x.shape[0], -1))
        x = x.reshape(spectrum.shape[0], spectrum.shape[1], SIZE)
        x, (hidden, cell) = self.lstm(x, (self.hidden, self.cell))
        self.hidden.copy_(hidden)
        self.cell.copy_(cell)
        return self.linear(x).transpose(1, 2).softmax(dim=1)


def _features(seconds: int) -> torch.Tensor:
    """(count, 1, 1, 272): bands of a drum's beats, and how much they rose."""
    time = np.arange(seconds * RATE) / RATE
    drum = np.exp(-40 * (time % 0.5)) * np.sin(2 * np.pi * 60 * (time % 0.5))
    music = drum.astype(np.float32) + 0.2 * sounds.tone(330, len(time), RATE)
    powers = sounds.spectra(music, 1411, HOP)
    bands = np.log10(1 + np.sqrt(sounds.logarithmic(powers, BANDS, RATE, 30)))
    risen = np.maximum(np.diff(bands, axis=0, prepend=bands[:1]), 0)
    return sounds.tensor(np.concatenate([bands, risen], axis=1))[:, None, None]


model = Beats
_frames = _features(1)
example_inputs = (_frames[24],)
calibration_inputs = [(frame,) for frame in _frames]

MEASURE = "beats found, F1 in %"
_SECONDS, _PERIOD = 6, 0.5


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(frame,) for frame in _features(_SECONDS)]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """Peaks of what is a beat, within 70 ms of one that was played, from 2 s on."""
    likely = np.array([chances[0, :2].sum() for (chances,) in outputs])
    peaks = [
        at * HOP / RATE
        for at in range(1, len(likely) - 1)
        if likely[at] > 0.3 and likely[at - 1] <= likely[at] > likely[at + 1]
    ]
    heard = np.array([time for time in peaks if time >= 2])
    played = np.arange(2, _SECONDS - _PERIOD, _PERIOD)
    hits = sum(np.abs(heard - time).min(initial=1) <= 0.07 for time in played)
    return 100 * 2 * hits / max(len(heard) + len(played), 1)
