"""Depthwise convolutions of Cadence's dialect of 3 x 3 taps, whose loops run along the
longer axis, of one stride or the other, or pixel by pixel, and of many channels, whose
rows fill vectors; running this file with tests/shared and tools on the path writes the
cases again. What is expected comes from portable C."""

from pathlib import Path

import numpy_images
from benchmarks.hvx_layers import Convolution
from cadence_panel_programs import Layer

SIZES = {"wide": (5, 13), "tall": (12, 7), "even": (16, 16), "small": (7, 8)}
FULL = {"full": (32, 6, 20), "fuller": (64, 4, 11), "long": (128, 2, 37)}


def write(
    folder: str, channels: int, sides: tuple[int, int], stride: int, last: bool
) -> None:
    shape = Convolution(channels, channels, *sides, stride=stride, depthwise=True)
    model = Layer(shape, last).model
    path = Path() / folder
    numpy_images.write(path, model.program, model, order=(0, 1, 2, 3))


for name, sides in SIZES.items():
    for stride in (1, 2):
        write(f"{name}_{stride}_last", 6, sides, stride, True)
        write(f"{name}_{stride}_first", 6, sides, stride, False)
for name, (channels, height, width) in FULL.items():
    write(name, channels, (height, width), 1, True)
