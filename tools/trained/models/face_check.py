# SPDX-License-Identifier: Apache-2.0
"""MTCNN's second network: 24 x 24 pixels -> is it a face, and a better box."""

import numpy as np
import pictures
import torch
import weights
from torch import nn

PACKAGES = ("facenet-pytorch==2.6.0", "scikit-image==0.26.0", "pillow==13.0.0")


class Check(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 28, 3)
        self.prelu1 = nn.PReLU(28)
        self.pool1 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv2 = nn.Conv2d(28, 48, 3)
        self.prelu2 = nn.PReLU(48)
        self.pool2 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv3 = nn.Conv2d(48, 64, 2)
        self.prelu3 = nn.PReLU(64)
        self.dense4 = nn.Linear(576, 128)
        self.prelu4 = nn.PReLU(128)
        self.dense5_1 = nn.Linear(128, 2)
        self.softmax5_1 = nn.Softmax(dim=1)
        self.dense5_2 = nn.Linear(128, 4)
        self.load_state_dict(
            weights.of_torch("facenet-pytorch", "facenet_pytorch/data/rnet.pt")
        )

    def forward(self, picture: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.pool1(self.prelu1(self.conv1(picture)))
        x = self.pool2(self.prelu2(self.conv2(x)))
        x = self.prelu3(self.conv3(x)).permute(0, 3, 2, 1).contiguous()
        x = self.prelu4(self.dense4(x.view(x.shape[0], -1)))
        return self.dense5_2(x), self.softmax5_1(self.dense5_1(x))


model = Check
_crops = pictures.face_crops(24)
example_inputs = (_crops[0],)
calibration_inputs = [(crop,) for crop in _crops[1:]]

MEASURE = "faces told from other things, %"


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(picture,) for picture, _ in pictures.faces_and_others(24)]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    labels = [is_face for _, is_face in pictures.faces_and_others(24)]
    seen = [chances[0, 1] > 0.5 for *_, chances in outputs]
    return 100 * float(np.mean(np.array(seen) == labels))
