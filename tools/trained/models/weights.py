# SPDX-License-Identifier: Apache-2.0
"""Files of weights inside installed packages -> tensors by name."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import torch


def path(package: str, inside: str) -> Path:
    """A file of an installed package, without importing the package."""
    return Path(str(importlib.metadata.distribution(package).locate_file(inside)))


def of_torch(package: str, inside: str, *, data: bool = True) -> Any:
    """What torch.save() wrote; without `data` it may hold objects beside tensors."""
    return torch.load(path(package, inside), map_location="cpu", weights_only=data)


def of_safetensors(package: str, inside: str) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(path(package, inside))


def of_onnx(package: str, inside: str) -> dict[str, torch.Tensor]:
    """The initializers of an ONNX file."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path(package, inside))
    return {
        tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy())
        for tensor in model.graph.initializer
    }
