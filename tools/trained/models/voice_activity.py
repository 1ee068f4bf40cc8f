# SPDX-License-Identifier: Apache-2.0
"""Silero's voice activity detector: 32 ms of sound -> is it speech? Keeps state."""

import numpy as np
import sounds
import torch
import weights
from torch import nn
from torch.nn import functional

PACKAGES = ("silero-vad==6.2.3", "safetensors==0.8.0")
RATE, CHUNK, CONTEXT = 16000, 512, 64


class VoiceActivity(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)
        stored = weights.of_safetensors(
            "silero-vad", "silero_vad/data/silero_vad_16k.safetensors"
        )
        self.load_state_dict(stored)
        self.register_buffer("context", torch.zeros(1, CONTEXT))
        self.register_buffer("hidden", torch.zeros(1, 128))
        self.register_buffer("cell", torch.zeros(1, 128))

    def forward(self, chunk: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.context, chunk], dim=1)
        self.context.copy_(chunk[:, -CONTEXT:])
        x = self.stft_conv(functional.pad(x, (0, 64), "reflect").unsqueeze(1))
        x = (x[:, :129] ** 2 + x[:, 129:] ** 2).sqrt()
        x = self.conv1(x).relu()
        x = self.conv2(x).relu()
        x = self.conv3(x).relu()
        x = self.conv4(x).relu().squeeze(-1)
        hidden, cell = self.lstm_cell(x, (self.hidden, self.cell))
        self.hidden.copy_(hidden)
        self.cell.copy_(cell)
        return self.final_conv(hidden.unsqueeze(-1).relu()).sigmoid().mean(dim=2)


model = VoiceActivity
_chunks = sounds.tensor(sounds.frames(sounds.voice(2, RATE), CHUNK, CHUNK))
_quiet = 0.001 * torch.randn(1, CHUNK, generator=torch.Generator().manual_seed(1))
example_inputs = (_chunks[3:4],)
calibration_inputs = [(_quiet,), *((_chunks[i : i + 1],) for i in range(4, 40))]

MEASURE = "chunks told right, %"


def _parts() -> list[tuple[bool, torch.Tensor]]:
    """A voice, silence, another voice, noise: is it speech, and chunks of it."""
    random = torch.Generator().manual_seed(4)
    first, second = (
        sounds.tensor(sounds.frames(sounds.voice(1.5, RATE, seed, pitch), CHUNK, CHUNK))
        for seed, pitch in ((2, 105), (3, 200))
    )
    quiet = 0.0005 * torch.randn(40, CHUNK, generator=random)
    noise = 0.05 * torch.randn(40, CHUNK, generator=random)
    return [(False, quiet), (True, first), (False, noise), (True, second)]


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(chunk[None],) for _, chunks in _parts() for chunk in chunks]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """The first eight chunks of a part, 256 ms, are those in which it is noticed."""
    right, at = [], 0
    for spoken, chunks in _parts():
        answers = outputs[at + 8 : at + len(chunks)]
        right += [(answer[0].item() > 0.5) == spoken for answer in answers]
        at += len(chunks)
    return 100 * float(np.mean(right))
