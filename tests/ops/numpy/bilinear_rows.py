"""ember::row_number.out and upsample_bilinear2d_rows.out: rows are counted, and some
rows of a larger image are mixed of three rows of an image; running this file with
tests/shared on the path writes the cases again.

No exporter writes these operators: the SDK makes them of bilinear upsampling in regions
of rows. What is expected comes from NumPy, of the whole image in float32, as PyTorch
describes it.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy_cases import with_inputs, write
from row_programs import ORDER, Network

from ember.files.tensors import DType
from ember.program import types

FOLDER = Path()


@dataclass(frozen=True)
class Mix:
    name: str
    sizes: tuple[int, int, int]  # of the image: channels, height, width
    factor: int
    row: int  # whose rows are made
    aligned: bool = False
    factors: tuple[float, float] | None = None
    order: tuple[int, ...] = (0, 1, 2, 3)
    told: int | None = None  # in place of the row's number


MIXES = (
    Mix("first", (3, 5, 4), 2, 0),
    Mix("middle", (5, 6, 3), 3, 2, order=ORDER),
    Mix("last", (2, 7, 5), 4, 6, factors=(4.0, 4.0)),
    Mix("aligned_first", (2, 4, 3), 2, 0, aligned=True),
    Mix("aligned", (4, 9, 6), 2, 5, aligned=True, order=ORDER),
    Mix("aligned_last", (3, 4, 4), 5, 3, aligned=True),
    Mix("drifting", (2, 4, 6), 2, 3, factors=(2.2, 2.0)),
    Mix("single", (2, 1, 3), 2, 0),
    Mix("before_the_first", (2, 4, 3), 2, 0, told=-5),
    Mix("behind_the_last", (2, 4, 3), 2, 3, told=2**31 - 1),
)


def number_of(start: int) -> None:
    net = Network(1, (1, 1, 1, 1), DType.INT32)
    operator = types.Operator("ember::row_number", "out")
    net.operators.append(operator)
    index = net.operators.index(operator)
    net.calls.append(types.KernelCall(index, (net.input, net.input)))
    given = np.full((1, 1, 1, 1), start, np.int32)
    model = with_inputs(net.model(net.input), net.input)
    write(FOLDER / f"number_{start}", model, [given], given + 1)


def places(
    count: int, enlarged_count: int, mix: Mix, axis: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each row or column: the two it lies between, and the weight of the second."""
    at = np.arange(enlarged_count, dtype=np.float32)
    if mix.aligned:
        real = at * (np.float32(count - 1) / np.float32(enlarged_count - 1))
    else:
        step = np.float32(count) / np.float32(enlarged_count)
        if mix.factors:
            step = np.float32(1 / mix.factors[axis])
        half = np.float32(0.5)
        real = np.maximum((at + half) * step - half, np.float32(0))
    low = np.minimum(real.astype(np.int64), count - 1)
    high = np.minimum(low + 1, count - 1)
    return low, high, np.minimum(real - low.astype(np.float32), np.float32(1))


def enlarged(image: np.ndarray, mix: Mix) -> np.ndarray:
    _, _, height, width = image.shape
    top, bottom, down = places(height, height * mix.factor, mix, 0)
    left, right, aside = places(width, width * mix.factor, mix, 1)
    unit = np.float32(1)
    columns = (unit - aside) * image[..., left] + aside * image[..., right]
    weights = down[:, None]
    upper, lower = columns[..., top, :], columns[..., bottom, :]
    image_rows: np.ndarray = (unit - weights) * upper + weights * lower
    return image_rows


def rows_of(image: np.ndarray, row: int) -> np.ndarray:
    """Three rows with this one in the middle; infinity outside, which adds nothing."""
    outside = ((0, 0), (0, 0), (1, 1), (0, 0))
    wide = np.pad(image, outside, constant_values=np.inf)
    return np.ascontiguousarray(wide[:, :, row : row + 3])


def mixed(mix: Mix, number: int) -> None:
    channels, height, width = mix.sizes
    net = Network(number, (1, channels, 3, width), DType.FLOAT32)
    rows = (1, channels, 3, width)
    enlarged_rows = (1, channels, mix.factor, width * mix.factor)
    given, told, out = (
        net.image(rows, DType.FLOAT32),
        net.image((1, 1, 1, 1), DType.INT32),
        net.image(enlarged_rows, DType.FLOAT32),
    )
    for value in (given, out):
        tensor = net.values[value]
        assert isinstance(tensor, types.Tensor)
        net.values[value] = replace(tensor, dim_order=mix.order)
    factors = types.DoubleList(mix.factors) if mix.factors else types.Null()
    net.call(
        "ember::upsample_bilinear2d_rows",
        given,
        told,
        net.number(height),
        net.add(types.Bool(mix.aligned)),
        net.add(factors),
        out,
    )
    image = net.random.standard_normal((1, *mix.sizes)).astype(np.float32)
    first = mix.row * mix.factor
    whole = enlarged(image, mix)
    result = np.ascontiguousarray(whole[:, :, first : first + mix.factor])
    row = np.full((1, 1, 1, 1), mix.row + 1 if mix.told is None else mix.told, np.int32)
    model = with_inputs(net.model(out), given, told)
    write(FOLDER / mix.name, model, [rows_of(image, mix.row), row], result, 1e-6)


for start in (0, 41):
    number_of(start)
for number, mix in enumerate(MIXES):
    mixed(mix, number)
