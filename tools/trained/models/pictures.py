# SPDX-License-Identifier: Apache-2.0
"""Photographs inside scikit-image -> tensors for networks that look for faces."""

from __future__ import annotations

import numpy as np
import torch
import weights
from PIL import Image

FACE = (172, 70, 276, 174)  # of the astronaut, in pixels: left, top, right, bottom


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
