# SPDX-License-Identifier: Apache-2.0
"""Magika: 2,048 bytes of a file's start and end -> which of 214 types it is."""

import json
import sys
from pathlib import Path

import numpy as np
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
    """(1, 2048): the start and the end, filled up with a number that is not a byte."""
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

MEASURE = "files told right, %"
_TYPES = ("csv", "html", "ini", "json", "markdown", "python", "shell", "toml", "xml")


def _texts() -> dict[str, bytes]:
    """A small file of each type, written here."""
    rows = [(name, index, index * 1.5) for index, name in enumerate(_TYPES)] * 9
    page = "<p>Some words &amp; a <a href='x'>link</a>.</p>\n" * 20
    keys = "".join(f"name_{i} = value {i}\n" for i in range(20))
    data = [{"name": a, "count": b, "weight": c} for a, b, c in rows]
    code = "import sys\n\n\ndef add(a: int, b: int) -> int:\n    return a + b\n\n\n"
    script = '#!/bin/sh\nset -eu\nfor name in *.txt; do\n    echo "$name"\ndone\n'
    items = "".join(f'<item id="{i}"><name>x{i}</name></item>\n' for i in range(20))
    texts = {
        "csv": "name,count,weight\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows),
        "html": f"<!DOCTYPE html><html><head><title>T</title></head>{page}</html>",
        "ini": f"[first]\n{keys}\n[second]\n{keys}",
        "json": json.dumps(data, indent=1),
        "markdown": "# Title\n\nSome *words*.\n\n- first\n- [link](x.md)\n\n" * 6,
        "python": code * 9,
        "shell": script * 4,
        "toml": '[package]\nname = "x"\nlist = ["a"]\n\n[dependencies]\ny = "2"\n',
        "xml": f'<?xml version="1.0" encoding="UTF-8"?>\n<items>\n{items}</items>\n',
    }
    return {name: text.encode() for name, text in texts.items()}


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(_content(text),) for text in _texts().values()]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    labels = weights.path("magika", "magika/models/standard_v3_3/config.min.json")
    names = json.loads(labels.read_text())["target_labels_space"]
    seen = [names[chances[0].argmax()] for (chances,) in outputs]
    return 100 * float(np.mean([a == b for a, b in zip(seen, _TYPES, strict=True)]))
