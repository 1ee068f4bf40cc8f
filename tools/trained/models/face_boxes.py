# SPDX-License-Identifier: Apache-2.0
"""MTCNN's first network: a picture -> where faces may be."""

import numpy as np
import pictures
import torch
import weights
from torch import nn

PACKAGES = ("facenet-pytorch==2.6.0", "scikit-image==0.26.0", "pillow==13.0.0")


class Proposals(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 10, 3)
        self.prelu1 = nn.PReLU(10)
        self.pool1 = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.conv2 = nn.Conv2d(10, 16, 3)
        self.prelu2 = nn.PReLU(16)
        self.conv3 = nn.Conv2d(16, 32, 3)
        self.prelu3 = nn.PReLU(32)
        self.conv4_1 = nn.Conv2d(32, 2, 1)
        self.softmax4_1 = nn.Softmax(dim=1)
        self.conv4_2 = nn.Conv2d(32, 4, 1)
        self.load_state_dict(
            weights.of_torch("facenet-pytorch", "facenet_pytorch/data/pnet.pt")
        )

    def forward(self, picture: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.pool1(self.prelu1(self.conv1(picture)))
        x = self.prelu3(self.conv3(self.prelu2(self.conv2(x))))
        return self.conv4_2(x), self.softmax4_1(self.conv4_1(x))


model = Proposals
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
