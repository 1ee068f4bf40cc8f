# SPDX-License-Identifier: Apache-2.0
"""Resemblyzer's voice encoder: mel frames -> an embedding of the speaker. State."""

import numpy as np
import sounds
import torch
import weights
from torch import nn

PACKAGES = ("resemblyzer==0.1.4",)
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


def _mels(
    seed: int, pitch: float, throat: float = 1, seconds: float = 1
) -> torch.Tensor:
    """(count, 8, 40): powers in mel bands, of windows of 25 ms."""
    sound = sounds.voice(seconds, RATE, seed, pitch, throat)
    powers = sounds.spectra(sound, 400, RATE // 100)
    bands = sounds.tensor(sounds.mel(powers, BANDS, RATE))
    return bands[: len(bands) // FRAMES * FRAMES].reshape(-1, FRAMES, BANDS)


model = Speaker
_low, _high = _mels(0, 110), _mels(3, 210)
example_inputs = (_low[1:2],)
calibration_inputs = [(part[None],) for part in (*_high[:8], *_low[2:])]

MEASURE = "same voice or not, area under the curve in %"
_VOICES = ((95, 1), (130, 0.88), (190, 1.15), (235, 1.3))  # pitch in Hz, formants
_UTTERANCES = 3


def _utterances() -> list[torch.Tensor]:
    """Of each voice in turn, so that what is kept of a voice is not what follows."""
    return [
        _mels(seed, *voice, seconds=2.4)
        for seed in range(_UTTERANCES)
        for voice in _VOICES
    ]


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(part[None],) for utterance in _utterances() for part in utterance]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """How often two of a voice are nearer than one of them and one of another."""
    ends = np.cumsum([len(utterance) for utterance in _utterances()]) - 1
    embeddings = np.stack([outputs[end][0][0] for end in ends])
    near = embeddings @ embeddings.T
    voices = np.arange(len(ends)) % len(_VOICES)
    same = (voices[:, None] == voices) & ~np.eye(len(ends), dtype=bool)
    other = voices[:, None] != voices
    return 100 * float(np.mean(near[same][:, None] > near[other]))
