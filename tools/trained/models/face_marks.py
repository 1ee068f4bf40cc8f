# SPDX-License-Identifier: Apache-2.0
"""MTCNN's third network: 48 x 48 pixels -> face or not, box, eyes, nose, mouth."""

import numpy as np
import pictures
import torch
from torch import nn

PACKAGES = ("facenet-pytorch==2.6.0", "scikit-image==0.26.0", "pillow==13.0.0")


def model() -> nn.Module:
    convolutions = [(32, 3, 3), (64, 3, 3), (64, 3, 2), (128, 2, 0)]
    return pictures.Mtcnn("onet.pt", convolutions, (2, 4, 10), inputs=1152, outputs=256)


_crops = pictures.face_crops(48)
example_inputs = (_crops[0],)
calibration_inputs = [(crop,) for crop in _crops[1:]]

MEASURE = "faces told from other things, %"


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(picture,) for picture, _ in pictures.faces_and_others(48)]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    return pictures.told_faces(48, [chances for *_, chances in outputs])
