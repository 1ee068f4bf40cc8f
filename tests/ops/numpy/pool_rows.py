"""ember::avg_pool_sums.out and avg_pool_means.out: rows of an image are added up, by
windows, and the sums become means; running this file with tests/shared on the path
writes the cases again.

No exporter writes these operators: the SDK makes them of pools in regions of rows. What
is expected comes from NumPy, in float32 as the dialect's Python computes it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy_cases import with_inputs, write
from row_programs import Network

from ember.files.tensors import DType

FOLDER = Path()


@dataclass(frozen=True)
class Pool:
    name: str
    channels: int
    columns: int  # of the row
    kernel: tuple[int, int]
    stride: int


POOLS = (
    Pool("narrow", 5, 11, (6, 3), 4),
    Pool("whole", 18, 7, (7, 7), 1),
    Pool("wide", 64, 9, (4, 4), 4),
)


def call(net: Network, name: str, given: int, pool: Pool, to: int) -> np.float32:
    """The scale of the integers."""
    multiplier = int(net.random.integers(1 << 30, 1 << 31))
    shift = int(net.random.integers(-9, 1))
    net.call(
        f"ember::{name}",
        given,
        net.ints(*pool.kernel),
        net.ints(pool.stride, pool.stride),
        net.ints(0, 0),
        net.number(-7),
        net.number(multiplier),
        net.number(shift),
        net.scratch(16),
        to,
    )
    return np.float32(multiplier) * np.float32(2.0) ** np.float32(shift - 31)


def sums_of(pool: Pool, number: int) -> None:
    net = Network(number, (1, pool.channels, 1, pool.columns))
    windows = (pool.columns - pool.kernel[1]) // pool.stride + 1
    sums = net.image((1, pool.channels, 1, windows), DType.FLOAT32)
    scale = call(net, "avg_pool_sums", net.input, pool, sums)
    x = net.random.integers(-128, 128, net.sizes(net.input), np.int8)
    before = net.random.normal(0, 100 * scale, net.sizes(sums)).astype(np.float32)
    after = before.copy()
    for window in range(windows):
        for column in range(pool.kernel[1]):
            item = x[..., window * pool.stride + column].astype(np.float32) + 7
            after[..., window] += item * scale
    model = with_inputs(net.model(sums), net.input, sums)
    write(FOLDER / f"{pool.name}_sums", model, [x, before], after)


def means_of(pool: Pool, number: int) -> None:
    windows = (pool.columns - pool.kernel[1]) // pool.stride + 1
    sizes = (1, pool.channels, 1, windows)
    net = Network(number, sizes, DType.FLOAT32)
    y = net.image(sizes)
    scale = call(net, "avg_pool_means", net.input, pool, y)
    count = pool.kernel[0] * pool.kernel[1]
    halves = net.random.integers(-300, 301, sizes)  # some in the middle, some beyond
    sums = (halves.astype(np.float32) * (scale * count / 2)).astype(np.float32)
    means = np.rint(sums / np.float32(count) / scale)
    result = np.clip(means - 7, -128, 127).astype(np.int8)
    write(FOLDER / f"{pool.name}_means", net.model(y), [sums], result)


for number, pool in enumerate(POOLS):
    sums_of(pool, number)
    means_of(pool, number)
