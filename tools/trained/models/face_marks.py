# SPDX-License-Identifier: Apache-2.0
"""MTCNN's third network: 48 x 48 pixels -> face or not, box, eyes, nose, mouth."""

import numpy as np
import pictures
import torch
import weights
from torch import nn

PACKAGES = ("facenet-pytorch==2.6.0", "scikit-image==0.26.0", "pillow==13.0.0")


class Marks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3)
        self.prelu1 = nn.PReLU(32)
        self.pool1 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.prelu2 = nn.PReLU(64)
        self.pool2 = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv3 = nn.Conv2d(64, 64, 3)
        self.prelu3 = nn.PReLU(64)
        self.pool3 = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.conv4 = nn.Conv2d(64, 128, 2)
        self.prelu4 = nn.PReLU(128)
        self.dense5 = nn.Linear(1152, 256)
        self.prelu5 = nn.PReLU(256)
        self.dense6_1 = nn.Linear(256, 2)
        self.softmax6_1 = nn.Softmax(dim=1)
        self.dense6_2 = nn.Linear(256, 4)
        self.dense6_3 = nn.Linear(256, 10)
        self.load_state_dict(
            weights.of_torch("facenet-pytorch", "facenet_pytorch/data/onet.pt")
        )

    def forward(
        self, picture: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x = self.pool1(self.prelu1(self.conv1(picture)))
        x = self.pool2(self.prelu2(self.conv2(x)))
        x = self.pool3(self.prelu3(self.conv3(x)))
        x = self.prelu4(self.conv4(x)).permute(0, 3, 2, 1).contiguous()
        x = self.prelu5(self.dense5(x.view(x.shape[0], -1)))
        return self.dense6_2(x), self.dense6_3(x), self.softmax6_1(self.dense6_1(x))


model = Marks
_crops = pictures.face_crops(48)
example_inputs = (_crops[0],)
calibration_inputs = [(crop,) for crop in _crops[1:]]

MEASURE = "faces told from other things, %"


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(picture,) for picture, _ in pictures.faces_and_others(48)]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    labels = [is_face for _, is_face in pictures.faces_and_others(48)]
    seen = [chances[0, 1] > 0.5 for *_, chances in outputs]
    return 100 * float(np.mean(np.array(seen) == labels))
