# SPDX-License-Identifier: Apache-2.0
"""Faces and digits on textured scenes -> frames of a camera, and where they are.

A frame has 120 rows of 160 pixels, RGB565; the network sees its middle 120 columns, at
96 x 96. Boxes are in these 96 pixels: left, top, right, bottom. Only sums and products
of numbers are computed, so that a seed gives the same frames on every computer.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
ROWS, COLUMNS = 120, 160
LEFT = 20  # of the columns that the network sees, 120
SIDE = 96  # pixels of the network's input
CLASSES = ("person", "object")
RECORDED, SEED = 200, 5  # frames of the recording

Image = NDArray[np.float64]
Frame = NDArray[np.int16]


@dataclass(frozen=True)
class Sources:
    """Pictures that scenes are made of, uint8."""

    faces: NDArray[np.uint8]  # (n, 25, 25)
    others: NDArray[np.uint8]  # (n, 25, 25), parts of photographs without a face
    digits: NDArray[np.uint8]  # (n, 8, 8), 0 to 16
    backgrounds: Sequence[NDArray[np.uint8]]  # (height, width, 3) each


@dataclass(frozen=True)
class Box:
    kind: int  # of CLASSES
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Scene:
    frame: Frame  # (ROWS, COLUMNS), the bits of RGB565
    boxes: tuple[Box, ...]


def held_out() -> Sources:
    """Those that training never sees."""
    with np.load(HERE / "held_out.npz") as file:
        count = sum(name.startswith("background") for name in file.files)
        backgrounds = [file[f"background{number}"] for number in range(count)]
        return Sources(file["faces"], file["others"], file["digits"], backgrounds)


def recording() -> list[Scene]:
    random, sources = np.random.default_rng(SEED), held_out()
    return [scene(sources, random) for _ in range(RECORDED)]


def checksum(scenes: Sequence[Scene]) -> int:
    return zlib.crc32(b"".join(scene.frame.astype("<i2").tobytes() for scene in scenes))


def scene(sources: Sources, random: np.random.Generator) -> Scene:
    image = _background(sources, random)
    places: list[tuple[int, int, int]] = []  # row, column, size
    boxes = []
    for _ in range(random.integers(0, 4)):
        kind = int(random.integers(2))
        place = _free(places, random, least=(20, 18)[kind], most=(64, 48)[kind])
        if place is not None:
            draw = _face if kind == 0 else _digit
            _paste(image, draw(sources, random, place[2]), place)
            boxes.append(_box(kind, *place))
            places.append(place)
    for _ in range(random.integers(0, 4)):
        place = _free(places, random, least=18, most=56)
        if place is not None:
            draw = _other if random.integers(3) else _plate
            _paste(image, draw(sources, random, place[2]), place)
            places.append(place)
    return Scene(rgb565(_seen(image, random)), tuple(boxes))


def resized(image: Image, rows: int, columns: int) -> Image:
    """Bilinear, of (height, width, ..)."""
    top, bottom, down = _neighbours(image.shape[0], rows)
    left, right, across = _neighbours(image.shape[1], columns)
    extra = (1,) * (image.ndim - 2)
    down = down.reshape(-1, 1, *extra)
    across = across.reshape(1, -1, *extra)
    tall = image[top] * (1 - down) + image[bottom] * down
    return tall[:, left] * (1 - across) + tall[:, right] * across


def rgb565(image: Image) -> Frame:
    """(.., 3) from 0 to 255 -> the bits of each pixel, red highest."""
    levels = np.clip(image, 0, 255).astype(np.int32)
    red, green, blue = levels[..., 0] >> 3, levels[..., 1] >> 2, levels[..., 2] >> 3
    return (red << 11 | green << 5 | blue).astype(np.uint16).view(np.int16)


def _neighbours(size: int, wanted: int) -> tuple[Any, Any, Image]:
    at = np.clip((np.arange(wanted) + 0.5) * size / wanted - 0.5, 0, size - 1)
    first = at.astype(np.int64)
    return first, np.minimum(first + 1, size - 1), at - first


def _background(sources: Sources, random: np.random.Generator) -> Image:
    whole = sources.backgrounds[random.integers(len(sources.backgrounds))]
    height, width = whole.shape[:2]
    rows = int(random.integers(height // 4, height + 1))
    columns = min(width, rows * COLUMNS // ROWS)
    top = int(random.integers(height - rows + 1))
    left = int(random.integers(width - columns + 1))
    part = whole[top : top + rows, left : left + columns].astype(np.float64)
    if random.integers(2):
        part = part[:, ::-1]
    image = resized(part, ROWS, COLUMNS) * random.uniform(0.5, 1.1, 3)
    return image + random.uniform(-20, 40)


def _free(
    places: Sequence[tuple[int, int, int]],
    random: np.random.Generator,
    least: int,
    most: int,
) -> tuple[int, int, int] | None:
    """A place that overlaps no other, in what the network sees."""
    for _ in range(12):
        size = int(random.integers(least, most + 1))
        row = int(random.integers(ROWS - size + 1))
        column = LEFT + int(random.integers(ROWS - size + 1))
        if all(
            row + size <= r or r + s <= row or column + size <= c or c + s <= column
            for r, c, s in places
        ):
            return row, column, size
    return None


def _box(kind: int, row: int, column: int, size: int) -> Box:
    scale = SIDE / ROWS
    left, top = (column - LEFT) * scale, row * scale
    return Box(kind, left, top, left + size * scale, top + size * scale)


def _paste(
    image: Image, drawn: tuple[Image, Image], place: tuple[int, int, int]
) -> None:
    """`drawn`: (size, size, 3) colours, and how much of each covers, 0 to 1."""
    row, column, size = place
    colours, cover = drawn
    under = image[row : row + size, column : column + size]
    under += (colours - under) * cover[..., None]


def _face(sources: Sources, random: np.random.Generator, size: int) -> Any:
    return _portrait(sources.faces, random, size)


def _other(sources: Sources, random: np.random.Generator, size: int) -> Any:
    return _portrait(sources.others, random, size)


def _portrait(
    pictures: NDArray[np.uint8], random: np.random.Generator, size: int
) -> Any:
    """One of them, tinted and lit, behind an oval whose border is soft."""
    grey = pictures[random.integers(len(pictures))].astype(np.float64)
    if random.integers(2):
        grey = grey[:, ::-1]
    grey = resized(grey, size, size)
    grey = (grey - 128) * random.uniform(0.7, 1.2) + random.uniform(90, 160)
    tint = np.array([1.15, 1.0, 0.85]) * random.uniform(0.9, 1.1, 3)
    at = (np.arange(size) + 0.5) * 2 / size - 1
    far = at[:, None] ** 2 + (at[None] * random.uniform(1.0, 1.15)) ** 2
    return grey[..., None] * tint, np.clip((1.15 - far) * 4, 0, 1)


def _digit(sources: Sources, random: np.random.Generator, size: int) -> Any:
    """A plate with a digit."""
    colours, cover = _plate(sources, random, size)
    inner = size * 7 // 8
    edge = (size - inner) // 2
    digit = sources.digits[random.integers(len(sources.digits))] / 16
    ink = np.clip(resized(digit, inner, inner) * 2 - 0.6, 0, 1)[..., None]
    plate = colours[0, 0]
    change = random.uniform(80, 130, 3)
    stroke = plate + np.where(plate.mean() > 120, -change, change)
    middle = colours[edge : edge + inner, edge : edge + inner]
    middle += (stroke - middle) * ink
    return colours, cover


def _plate(sources: Sources, random: np.random.Generator, size: int) -> Any:
    colour = random.uniform(30, 220) + random.uniform(-30, 30, 3)
    return np.broadcast_to(colour, (size, size, 3)).copy(), np.ones((size, size))


def _seen(image: Image, random: np.random.Generator) -> Image:
    """What the sensor gives: light that falls off to one side, exposure, noise."""
    down, across = random.uniform(-0.3, 0.3, 2)
    rows = np.linspace(-1, 1, ROWS)[:, None]
    columns = np.linspace(-1, 1, COLUMNS)[None]
    light = random.uniform(0.6, 1.2) * (1 + down * rows + across * columns)
    noise = random.integers(-8, 9, (3, *image.shape)).sum(0)
    return image * light[..., None] + noise * random.uniform(0.2, 1.2)
