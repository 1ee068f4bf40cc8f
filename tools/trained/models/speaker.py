# SPDX-License-Identifier: Apache-2.0
"""Resemblyzer's voice encoder: mel frames -> an embedding of the speaker. State."""

import numpy as np
import recordings
import sounds
import torch
import weights
from torch import nn

PACKAGES = ("resemblyzer==0.1.4", "miniaudio==1.71", "cffi==2.1.1")
DEBIAN = "klettres-data=4:22.12.3-1"
RATE, BANDS, FRAMES, SIZE, LAYERS = 16000, 40, 8, 256, 3


class Speaker(nn.Module):
    """Eight frames of 10 ms a call; what was heard before stays in the state."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(BANDS, SIZE, LAYERS, batch_first=True)
        self.linear = nn.Linear(SIZE, SIZE)
        stored = weights.of_torch("resemblyzer", "resemblyzer/pretrained.pt")
        names = [name for name in stored["model_state"] if "similarity" not in name]
        self.load_state_dict({name: stored["model_state"][name] for name in names})
        self.register_buffer("hidden", torch.zeros(LAYERS, 1, SIZE))
        self.register_buffer("cell", torch.zeros(LAYERS, 1, SIZE))

    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        _, (hidden, cell) = self.lstm(mels, (self.hidden, self.cell))
        self.hidden.copy_(hidden)
        self.cell.copy_(cell)
        raw = self.linear(hidden[-1]).relu()
        return raw / torch.norm(raw, dim=1, keepdim=True).clamp_min(1e-6)


_LOUD = 10 ** (-30 / 20)  # root mean square of what it was trained with
_CALLS = 20  # of an utterance, 1.6 s
_UTTERANCES = 3  # of a person


def _mels(sound: np.ndarray) -> torch.Tensor:
    """(count, 8, 40): powers in mel bands, of windows of 25 ms."""
    level = _LOUD / np.sqrt((sound**2).mean())
    powers = sounds.spectra(level * sound, 400, RATE // 100)
    bands = sounds.tensor(sounds.slaney(powers, BANDS, RATE))
    return bands[: len(bands) // FRAMES * FRAMES].reshape(-1, FRAMES, BANDS)


def _said(language: str, number: int) -> torch.Tensor:
    """One utterance of a person."""
    samples = (_CALLS * FRAMES + 2) * RATE // 100
    sound = recordings.person(language, RATE)
    return _mels(sound[number * samples : (number + 1) * samples])


_CALIBRATE = recordings.LANGUAGES[2::5]  # others are those of the measure
_PEOPLE = [name for name in recordings.LANGUAGES if name not in _CALIBRATE]

model = Speaker
_parts = [part[None] for name in _CALIBRATE for part in _said(name, 0)]
example_inputs = (_parts[_CALLS],)
calibration_inputs = [(part,) for part in _parts]

SESSION = _CALLS
MEASURE = "same voice or not, told right at equal errors, %"


def samples() -> list[tuple[torch.Tensor, ...]]:
    """Utterances of each person in turn."""
    said = [_said(name, i) for i in range(_UTTERANCES) for name in _PEOPLE]
    return [(part[None],) for utterance in said for part in utterance]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """Of pairs of utterances, by the limit at which as many of both kinds are wrong."""
    embeddings = np.stack([raw[0] for (raw,) in outputs[_CALLS - 1 :: _CALLS]])
    near = embeddings @ embeddings.T
    people = np.arange(len(near)) % len(_PEOPLE)
    pairs = np.triu_indices(len(near), 1)
    near, same = near[pairs], (people[:, None] == people)[pairs]
    limits = np.sort(near)
    accepted = np.array([(near[~same] >= limit).mean() for limit in limits])
    refused = np.array([(near[same] < limit).mean() for limit in limits])
    at = np.argmin(np.abs(accepted - refused))
    return 100 * (1 - float(accepted[at] + refused[at]) / 2)
