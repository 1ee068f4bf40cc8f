# SPDX-License-Identifier: Apache-2.0
"""MTCNN's second network: 24 x 24 pixels -> is it a face, and a better box."""

import numpy as np
import pictures
import torch
from torch import nn

PACKAGES = ("facenet-pytorch==2.6.0", "scikit-image==0.26.0", "pillow==13.0.0")


def model() -> nn.Module:
    convolutions = [(28, 3, 3), (48, 3, 3), (64, 2, 0)]
    return pictures.Mtcnn("rnet.pt", convolutions, (2, 4), inputs=576, outputs=128)


_crops = pictures.face_crops(24)
example_inputs = (_crops[0],)
calibration_inputs = [(crop,) for crop in _crops[1:]]

MEASURE = "faces told from other things, %"


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(picture,) for picture, _ in pictures.faces_and_others(24)]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    return pictures.told_faces(24, [chances for *_, chances in outputs])
