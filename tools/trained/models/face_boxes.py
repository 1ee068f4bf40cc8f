# SPDX-License-Identifier: Apache-2.0
"""MTCNN's first network: a picture -> where faces may be."""

import numpy as np
import pictures
import torch
from torch import nn

PACKAGES = ("facenet-pytorch==2.6.0", "scikit-image==0.26.0", "pillow==13.0.0")


def model() -> nn.Module:
    return pictures.Mtcnn("pnet.pt", [(10, 3, 2), (16, 3, 0), (32, 3, 0)], heads=(2, 4))


_scenes = pictures.scenes(61, 61)  # a face of about 12 pixels is what it looks for
example_inputs = (_scenes[0],)
calibration_inputs = [(scene,) for scene in _scenes[1:]]

MEASURE = "faces found, %"


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(scene,) for scene, _ in pictures.pasted_faces(61, 14)]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """The likeliest of all places, 2 pixels apart and 12 wide, is on the face."""
    right = []
    for (_, chances), (_, centre) in zip(
        outputs, pictures.pasted_faces(61, 14), strict=True
    ):
        row, column = np.unravel_index(chances[0, 1].argmax(), chances[0, 1].shape)
        away = np.abs(np.array([row, column]) * 2 + 6 - centre)
        right.append(away.max() <= 6)
    return 100 * float(np.mean(right))
