"""The operators on images, called once each; running this file writes the cases again.
What is expected is computed pixel by pixel, by division; all of it is exact."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ember.cases import one_call
from ember.files.tensors import Array

HERE = Path()
OUT = "*, Tensor(a!) out) -> Tensor(a!)"
random = np.random.default_rng(1)


def write(
    name: str, op: str, schema: str, arguments: Sequence[Any], result: Array
) -> None:
    one_call.write(
        HERE / name, f"ember::{op}.out", f"({schema}, {OUT}", arguments, [result]
    )


def colours(pixel: int) -> tuple[int, int, int]:
    bits = pixel & 0xFFFF
    red, green, blue = bits >> 11, bits >> 5 & 63, bits & 31
    return red * 8 + red // 4, green * 4 + green // 16, blue * 8 + blue // 4


def luma(pixel: int) -> int:
    red, green, blue = colours(pixel)
    return (77 * red + 150 * green + 29 * blue + 128) // 256


def neighbours(size: int, wanted: int) -> list[tuple[int, int, int]]:
    """Of each place: two pixels, and the second one's 256ths."""
    pixels_beside = []
    for at in range(wanted):
        step = min(max((2 * at + 1) * size - wanted, 0), (size - 1) * 2 * wanted)
        first, rest = divmod(step, 2 * wanted)
        share = rest * 256 // (2 * wanted)
        pixels_beside.append((first, min(first + 1, size - 1), share))
    return pixels_beside


def resized(image: Array, height: int, width: int) -> Array:
    out = np.zeros((height, width), np.uint8)
    for i, (top, bottom, down) in enumerate(neighbours(image.shape[0], height)):
        for j, (left, right, across) in enumerate(neighbours(image.shape[1], width)):
            corners = ((top, left, 0), (top, right, 1), (bottom, left, 2))
            weights = [
                (256 - down) * (256 - across),
                (256 - down) * across,
                down * (256 - across),
            ]
            total = sum(int(image[r, c]) * weights[k] for r, c, k in corners)
            total += int(image[bottom, right]) * down * across
            out[i, j] = (total + 32768) >> 16
    return out


pixels = random.integers(-32768, 32768, (2, 5, 7)).astype(np.int16)
pixels[0, 0, :4] = [0, -1, 0x07E0, -2048]  # black, white, green, red
gray = np.array([luma(int(x)) for x in pixels.flat], np.uint8).reshape(pixels.shape)
write("gray", "gray_rgb565", "Tensor pixels", [pixels], gray)
planes = np.array([colours(int(x)) for x in pixels.flat], np.uint8).reshape(2, 5, 7, 3)
rgb = np.ascontiguousarray(np.moveaxis(planes, -1, 1))
write("rgb", "rgb_rgb565", "Tensor pixels", [pixels], rgb)

pairs = random.integers(0, 256, (2, 3, 5, 4)).astype(np.uint8)
pairs[0, 0, :2] = [[0, 0, 255, 0], [255, 255, 0, 255]]  # the most there is
planes = np.zeros((2, 3, 3, 10), np.uint8)
for image, row, pair, k in np.ndindex(2, 3, 5, 2):
    u, v = (int(pairs[image, row, pair, at]) - 128 for at in (1, 3))
    y = int(pairs[image, row, pair, 2 * k])
    for plane, colour in enumerate((359 * v, -88 * u - 183 * v, 454 * u)):
        value = y + (colour + 128) // 256
        planes[image, plane, row, 2 * pair + k] = min(max(value, 0), 255)
bytes_of = pairs.reshape(2, 3, 20)
write("yuv422", "rgb_yuv422", "Tensor pixels", [bytes_of], planes)

for rows, columns, height, width in (
    (5, 120, 4, 96),
    (3, 4, 9, 11),
    (7, 6, 2, 3),
    (1, 1, 3, 2),
    (6, 5, 6, 5),
):
    images = random.integers(0, 256, (2, rows, columns)).astype(np.uint8)
    images[0] = np.where(images[0] > 127, 255, 0)
    out = np.stack([resized(image, height, width) for image in images])
    schema = "Tensor image, int height, int width"
    name = f"resize_{rows}x{columns}_{height}x{width}"
    write(name, "resize_bilinear", schema, [images, height, width], out)

pixels = random.integers(0, 256, (2, 6, 8)).astype(np.uint8)
pixels[0, :2, :4] = [[0, 255, 255, 255], [0, 0, 255, 255]]
for red in range(4):
    cells = np.zeros((4, 2, 3, 4), np.int64)  # red, both greens, blue
    for image, row, column in np.ndindex(2, 3, 4):
        cell = pixels[image, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        places = [(red // 2, red % 2), (red // 2, 1 - red % 2)]
        places += [(1 - red // 2, red % 2), (1 - red // 2, 1 - red % 2)]
        cells[:, image, row, column] = [cell[place] for place in places]
    gray = (77 * cells[0] + 75 * (cells[1] + cells[2]) + 29 * cells[3] + 128) // 256
    planes = np.stack([cells[0], (cells[1] + cells[2] + 1) // 2, cells[3]], axis=1)
    schema = "Tensor pixels, int red"
    arguments = [pixels, red]
    write(f"gray_bayer_{red}", "gray_bayer", schema, arguments, gray.astype(np.uint8))
    write(f"rgb_bayer_{red}", "rgb_bayer", schema, arguments, planes.astype(np.uint8))
