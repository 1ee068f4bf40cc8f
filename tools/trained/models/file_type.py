# SPDX-License-Identifier: Apache-2.0
"""Magika: 2,048 bytes of a file's start and end -> which of 214 types it is."""

import sys
from pathlib import Path

import torch
import weights
from torch import nn
from torch.nn import functional

PACKAGES = ("magika==1.0.3", "onnx==1.23.2")
HALF, PADDING = 1024, 256


class FileType(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(257, 64)
        self.first_norm = nn.LayerNorm(512, eps=1e-6)
        self.conv = nn.Conv1d(256, 512, 5)
        self.second_norm = nn.LayerNorm(512, eps=1e-6)
        self.classifier = nn.Linear(512, 214)
        self._load(weights.of_onnx("magika", "magika/models/standard_v3_3/model.onnx"))

    def _load(self, stored: dict[str, torch.Tensor]) -> None:
        """In the file the table is a product with a one-hot, and a bias."""
        start = "jax2tf_get_logits_/"
        layers = f"{start}pjit_get_logits_/MagikaV2/"
        named = {
            "embedding.weight": stored[f"{start}Const:0"]
            + stored[f"{layers}Dense_0/Reshape:0"][0],
            "conv.weight": stored[f"{layers}Conv_0/transpose_3:0"].squeeze(-1),
            "conv.bias": stored["const_fold_opt__209"].flatten(),
            "classifier.weight": stored[f"{start}Const_24:0"].T,
            "classifier.bias": stored[f"{layers}Dense_1/Reshape:0"].flatten(),
        }
        for name, number in (("first_norm", 0), ("second_norm", 1)):
            norm = f"{layers}LayerNorm_{number}/Reshape"
            named[f"{name}.weight"] = stored[f"{norm}_2:0"].flatten()
            named[f"{name}.bias"] = stored[f"{norm}_3:0"].flatten()
        self.load_state_dict(named)

    def forward(self, content: torch.Tensor) -> torch.Tensor:
        x = functional.gelu(self.embedding(content), approximate="tanh")
        x = self.first_norm(x.reshape(-1, 512, 256).transpose(1, 2))
        x = functional.gelu(self.conv(x), approximate="tanh").amax(dim=2)
        return self.classifier(self.second_norm(x)).softmax(dim=1)


def _content(data: bytes) -> torch.Tensor:
    """(1, 2048): the start and the end, filled up with a number that is no byte."""
    data = data.strip()
    start, end = list(data[:HALF]), list(data[-HALF:])
    start += [PADDING] * (HALF - len(start))
    end = [PADDING] * (HALF - len(end)) + end
    return torch.tensor([start + end])


model = FileType
_FILES = (torch.__file__, weights.path("onnx", "onnx/onnx.proto"), sys.executable)
_contents = [_content(Path(path).read_bytes()) for path in _FILES]
example_inputs = (_contents[0],)
calibration_inputs = [(content,) for content in _contents[1:]]
