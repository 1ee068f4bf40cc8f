"""A node that enlarges its image becomes the rows that it must find, by its call.

For the check alone: nothing is shared with what makes regions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ember.plan.check.row_programs import ROWS, name_of, number_of, tensor_of
from ember.plan.check.row_reading import RowReading, args_of, within_rows
from ember.program import Method, types

_Pair = tuple[Method, int, Method, int]
_Found = tuple[tuple[RowReading, ...], str]
_NUMBER = "ember::row_number.out"


def _repeated(pair: _Pair, same: Mapping[int, int]) -> _Found:
    """Of what repeats each pixel: rows f * i to f * i + f - 1 are row i of the image,
    where all of them are such; a node has one row and makes f."""
    before, old, method, new = pair
    args, own = args_of(before, old), args_of(method, new)
    image, whole = (tensor_of(before, args[n]) for n in (0, -1))
    row, rows = (tensor_of(method, own[n]) for n in (0, -1))
    factor = whole.sizes[ROWS] // image.sizes[ROWS]
    step = np.float32(1 / factor)
    listed = _is_list(method, own[1])
    other = (
        whole.sizes[ROWS] != image.sizes[ROWS] * factor
        or any(
            int(np.float32(n) * step) != n // factor for n in range(whole.sizes[ROWS])
        )
        or (row.sizes[ROWS], rows.sizes[ROWS]) != (1, factor)
        or (row.sizes[ROWS + 1], rows.sizes[ROWS + 1])
        != (image.sizes[ROWS + 1], whole.sizes[ROWS + 1])
        or before.values[args[2]] != method.values[own[2]]
        or (listed and number_of(method, own[1]) != factor)
        or [within_rows(image), within_rows(whole)]
        != [within_rows(row), within_rows(rows)]
    )
    reading = RowReading(same[args[0]], 1, 1, 0, 0)
    return (reading,), "repeats other rows than its call" if other else ""


def _mixed(pair: _Pair, same: Mapping[int, int]) -> _Found:
    """Of what mixes each pixel of four: row i of the image and those beside it are
    enough for rows f * i to f * i + f - 1. One node counts rows, the next one must know
    which one it is given."""
    before, old, method, new = pair
    args, own = args_of(before, old), args_of(method, new)
    image, whole = (tensor_of(before, args[n]) for n in (0, -1))
    if name_of(method, new) == _NUMBER:
        count = RowReading(-1, 1, image.sizes[ROWS], 0, 0, before=True)
        return (count,), ""
    rows, larger = (tensor_of(method, own[n]) for n in (0, -1))
    factor, rest = divmod(whole.sizes[ROWS], image.sizes[ROWS])
    other = (
        rest != 0
        or (rows.sizes[ROWS], larger.sizes[ROWS]) != (3, factor)
        or (rows.sizes[ROWS + 1], larger.sizes[ROWS + 1])
        != (image.sizes[ROWS + 1], whole.sizes[ROWS + 1])
        or name_of(method, new - 1) != _NUMBER
        or number_of(method, own[2]) != image.sizes[ROWS]
        or [before.values[arg] for arg in args[2:4]]
        != [method.values[arg] for arg in own[3:5]]
        or not _are_beside(before, args, image.sizes[ROWS], factor)
        or [within_rows(image), within_rows(whole)]
        != [within_rows(rows), within_rows(larger)]
    )
    readings = (
        RowReading(same[args[0]], 3, 1, 1, 0),
        RowReading(-1, 1, 1, 0, 0, of_sums=True),
    )
    return readings, "mixes other rows than its call" if other else ""


def _are_beside(
    method: Method, args: tuple[int, ...], height: int, factor: int
) -> bool:
    """Whether rows of the result lie between rows beside the one that they belong to,
    with the steps of float32 that kernels compute."""
    aligned, factors = (method.values[arg] for arg in args[2:4])
    rows = np.arange(height * factor)
    places = rows.astype(np.float32)
    half = np.float32(0.5)
    if isinstance(aligned, types.Bool) and aligned.value:
        last = np.float32(max(height * factor - 1, 1))
        places *= np.float32(height - 1) / last
    else:
        step = np.float32(height) / np.float32(height * factor)
        if isinstance(factors, types.DoubleList):
            step = np.float32(1 / factors.items[0])
        places = np.maximum((places + half) * step - half, 0)
    low = np.minimum(np.floor(places), np.float32(height - 1))
    middle = rows // factor
    return bool(((low >= middle - 1) & (low <= middle)).all()) or factor == 1


RESIZES: Mapping[str, Callable[[_Pair, Mapping[int, int]], _Found]] = {
    "aten::upsample_nearest2d.vec_out": _repeated,
    "aten::upsample_bilinear2d.vec_out": _mixed,
}


def _is_list(method: Method, value: int) -> bool:
    return isinstance(method.values[value], types.IntList)
