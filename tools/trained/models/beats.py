# SPDX-License-Identifier: Apache-2.0
"""BeatNet: 20 ms of a logarithmic spectrum -> beat, first beat or none. State."""

import numpy as np
import sounds
import torch
import weights
from torch import nn
from torch.nn import functional

PACKAGES = ("beatnet==1.1.3",)
RATE, BANDS, SIZE = 22050, 136, 150


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


def _features() -> torch.Tensor:
    """(count, 1, 1, 272): bands of a drum's beats, and how much they rose."""
    time = np.arange(RATE) / RATE
    drum = np.exp(-40 * (time % 0.5)) * np.sin(2 * np.pi * 60 * (time % 0.5))
    music = drum.astype(np.float32) + 0.2 * sounds.tone(330, RATE, RATE)
    powers = sounds.spectra(music, 1411, 441)
    bands = np.log10(1 + np.sqrt(sounds.logarithmic(powers, BANDS, RATE, 30)))
    risen = np.maximum(np.diff(bands, axis=0, prepend=bands[:1]), 0)
    return sounds.tensor(np.concatenate([bands, risen], axis=1))[:, None, None]


model = Beats
_frames = _features()
example_inputs = (_frames[24],)
calibration_inputs = [(frame,) for frame in _frames]
