# SPDX-License-Identifier: Apache-2.0
"""MTCNN, whose networks look for faces, and photographs inside scikit-image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import weights
from PIL import Image
from torch import nn

FACE = (172, 70, 276, 174)  # of the astronaut, in pixels: left, top, right, bottom


class Mtcnn(nn.Module):
    """Convolutions, each (outputs, kernel, size of the pool behind or 0); a layer for
    all that they give, if it has `inputs`; heads, the first of which tells faces."""

    def __init__(
        self,
        file: str,
        convolutions: Sequence[tuple[int, int, int]],
        heads: Sequence[int],
        inputs: int = 0,
        outputs: int = 0,
    ) -> None:
        super().__init__()
        channels, self.count, self.is_dense = 3, len(convolutions), inputs > 0
        for n, (filters, kernel, size) in enumerate(convolutions, 1):
            self.add_module(f"conv{n}", nn.Conv2d(channels, filters, kernel))
            self.add_module(f"prelu{n}", nn.PReLU(filters))
            pool = nn.MaxPool2d(size, 2, ceil_mode=True) if size else nn.Identity()
            self.add_module(f"pool{n}", pool)
            channels = filters
        last = self.count + 1
        if inputs:
            self.add_module(f"dense{last}", nn.Linear(inputs, outputs))
            self.add_module(f"prelu{last}", nn.PReLU(outputs))
        self.heads = [
            f"dense{last + 1}_{i}" if inputs else f"conv{last}_{i}"
            for i in range(1, len(heads) + 1)
        ]
        for name, count in zip(self.heads, heads, strict=True):
            head = (
                nn.Linear(outputs, count) if inputs else nn.Conv2d(channels, count, 1)
            )
            self.add_module(name, head)
        inside = f"facenet_pytorch/data/{file}"
        self.load_state_dict(weights.of_torch("facenet-pytorch", inside))

    def forward(self, picture: torch.Tensor) -> tuple[torch.Tensor, ...]:
        layer, x = self.get_submodule, picture
        for n in range(1, self.count + 1):
            x = layer(f"pool{n}")(layer(f"prelu{n}")(layer(f"conv{n}")(x)))
        if self.is_dense:
            x = x.permute(0, 3, 2, 1).contiguous()
            x = layer(f"dense{self.count + 1}")(x.view(x.shape[0], -1))
            x = layer(f"prelu{self.count + 1}")(x)
        first, *others = (layer(name) for name in self.heads)
        return *(head(x) for head in others), first(x).softmax(dim=1)


def face_crops(size: int, count: int = 6) -> list[torch.Tensor]:
    """(1, 3, size, size) each: the face first, then shifted, then no face at all."""
    photo = _photo("astronaut.png")
    left, top, right, bottom = FACE
    moves = [(0, 0), (14, -10), (-20, 12), (6, 24), (200, 180), (-120, 260)]
    boxes = [(left + x, top + y, right + x, bottom + y) for x, y in moves]
    return [_scaled(photo.crop(box).resize((size, size))) for box in boxes[:count]]


def scenes(width: int, height: int) -> list[torch.Tensor]:
    """(1, 3, height, width) each: photographs, the one with a face first."""
    names = ("astronaut.png", "coffee.png", "chelsea.png")
    return [_scaled(_photo(name).resize((width, height))) for name in names]


def faces_and_others(size: int) -> list[tuple[torch.Tensor, bool]]:
    """(1, 3, size, size) and whether it is a face: 50 of each, of scikit-image."""
    kinds = ((_subset()[:50], True), (_subset()[100:150], False))
    return [
        (_scaled(image.resize((size, size))), is_face)
        for images, is_face in kinds
        for image in images
    ]


def told_faces(size: int, chances: Sequence[np.ndarray]) -> float:
    """In percent: those of `faces_and_others` that are told right."""
    labels = [is_face for _, is_face in faces_and_others(size)]
    seen = [chance[0, 1] > 0.5 for chance in chances]
    return 100 * float(np.mean(np.array(seen) == labels))


def pasted_faces(size: int, width: int) -> list[tuple[torch.Tensor, np.ndarray]]:
    """(1, 3, size, size) with a face somewhere, and row and column of its centre."""
    random = np.random.default_rng(8)
    subset = _subset()
    scenes = []
    for number in range(20):
        scene = subset[100 + number].resize((size, size))
        top, left = random.integers(2, size - width - 2, 2)
        scene.paste(subset[number].resize((width, width)), (int(left), int(top)))
        scenes.append((_scaled(scene), np.array([top, left]) + width / 2))
    return scenes


def _subset() -> list[Image.Image]:
    """200 grey pictures of 25 x 25 pixels: 100 faces, then 100 of other things."""
    stored = np.load(weights.path("scikit-image", "skimage/data/lfw_subset.npy"))
    pixels = (stored * 255).clip(0, 255).astype(np.uint8)
    return [Image.fromarray(picture).convert("RGB") for picture in pixels]


def _photo(name: str) -> Image.Image:
    path = weights.path("scikit-image", f"skimage/data/{name}")
    return Image.open(path).convert("RGB")


def _scaled(image: Image.Image) -> torch.Tensor:
    """As MTCNN takes pixels: about -1 to 1."""
    pixels = np.asarray(image, dtype=np.float32)
    return torch.from_numpy((pixels - 127.5) / 128).permute(2, 0, 1)[None].contiguous()
