"""Depthwise convolutions of Cadence's dialect of 3 x 3 taps, whose loops run along the
longer axis, of one stride or the other, or pixel by pixel; running this file with
tests/shared and tools on the path writes the cases again. What is expected comes from
portable C."""

from pathlib import Path

import numpy_images
from benchmarks.hvx_layers import Convolution
from cadence_panel_programs import Layer

SIZES = {"wide": (5, 13), "tall": (12, 7), "even": (16, 16), "small": (7, 8)}

for name, (height, width) in SIZES.items():
    for stride in (1, 2):
        for last in (True, False):
            layer = Layer(
                Convolution(6, 6, height, width, stride=stride, depthwise=True), last
            )
            folder = f"{name}_{stride}_{'last' if last else 'first'}"
            numpy_images.write(
                Path(__file__).parent / folder,
                layer.model.program,
                layer.model,
                order=(0, 1, 2, 3),
            )
