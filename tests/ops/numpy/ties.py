"""cortex_m::quantized_avg_pool2d.out of windows of 2, 4 and 8 elements whose means are
in the middle between two integers; running this file with tests/shared on the path
writes the cases again.

Which integer they become is decided by the roundings of float32. What is expected comes
from NumPy, in float32 as the dialect's Python computes it.
"""

import json
from pathlib import Path

import numpy as np
from row_programs import Network

from ember import program

CHANNELS = 160  # two vectors of Hexagon, one of them in part
WINDOWS = {"two": (1, 2), "four": (2, 2), "eight": (2, 4)}


def even(net: Network, x: int, kernel: tuple[int, int]) -> tuple[int, np.float32]:
    """A pool without overlap, and the scale that it divides by."""
    _, channels, height, width = net.sizes(x)
    y = net.image((1, channels, height // kernel[0], width // kernel[1]))
    multiplier = int(net.random.integers(1 << 30, 1 << 31))
    shift = int(net.random.integers(-9, 1))
    net.call(
        "quantized_avg_pool2d",
        x,
        net.ints(*kernel),
        net.ints(*kernel),
        net.ints(0, 0),
        net.number(net.zeros[x]),
        net.number(multiplier),
        net.number(shift),
        net.scratch(32),
        y,
    )
    return y, np.float32(multiplier) * np.float32(2.0) ** np.float32(shift - 31)


def expected(
    x: np.ndarray, zero: int, scale: np.float32, kernel: tuple[int, int]
) -> tuple[np.ndarray, int]:
    """(n, c, h, w), and how many means exact arithmetic would round otherwise."""
    steps = x.astype(np.int32) - zero
    items = [
        steps[..., i :: kernel[0], j :: kernel[1]]
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]
    sums = np.zeros(items[0].shape, np.float32)
    for item in items:
        sums = (sums + item.astype(np.float32) * scale).astype(np.float32)
    means = np.rint((sums / np.float32(len(items))) / scale)
    exact = np.rint(np.sum(items, 0) / len(items))
    result = np.clip(means + zero, -128, 127).astype(np.int8)
    return result, int((means != exact).sum())


for number, (name, kernel) in enumerate(WINDOWS.items()):
    folder = Path() / name
    folder.mkdir(exist_ok=True)
    net = Network(number, (1, CHANNELS, 4, 8))
    y, scale = even(net, net.input, kernel)
    x = net.random.integers(-128, 128, net.sizes(net.input), np.int8)
    means, differing = expected(x, net.zeros[net.input], scale, kernel)
    assert differing >= 10
    model = net.model(y)
    (folder / "model.pte").write_bytes(program.write(model.program))
    np.save(folder / "in0.npy", x)
    np.save(folder / "out0.npy", means)
    run = {"method": "forward", "inputs": ["in0.npy"], "outputs": ["out0.npy"]}
    case = {"rtol": 0.0, "atol": 0.0, "runs": [run]}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
