"""A reading becomes the rows that a node must find.

For the check alone: nothing is shared with what makes regions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ember.plan.check.row_machine import Row
from ember.plan.check.row_programs import ROWS, tensor_of
from ember.program import KernelCall, Method, types


@dataclass(frozen=True)
class RowReading:
    """Row r of a result is made of rows [r * stride - padding, ... + extent); of a
    transposed convolution, that is what it makes at its r-th time."""

    value: int
    extent: int
    stride: int
    padding: int
    outside: int
    columns: int = 0  # padding of these
    sides: int = 0  # bytes at either end of a row that are padding
    before: bool = False  # of what the node added up so far: nothing, every `stride`
    of_sums: bool = False  # of what the node before added up


def wanted_rows(
    before: Method,
    call: tuple[RowReading, ...],
    at: tuple[int, int],
    maker: Mapping[int, int],
    pieces: int,
) -> tuple[tuple[Row, ...], ...]:
    """What a node finds; `at` is its number, and how often it ran."""
    windows: list[tuple[Row, ...]] = []
    node, row = at
    for reading in call:
        if reading.before:
            begins = row % reading.stride == 0
            sums: Row = ("outside", 0) if begins else ("row", node, row - 1)
            windows.append((sums,))
            continue
        if reading.of_sums:
            last = row * reading.stride - reading.padding
            windows.append((("row", node - 1, last),))
            continue
        height = tensor_of(before, reading.value).sizes[ROWS] * pieces
        first = row * reading.stride - reading.padding
        names: list[Row] = []
        sides: Row = ("sides", reading.sides, reading.outside) if reading.sides else ()
        for number in range(first, first + reading.extent):
            if not 0 <= number < height:
                names.append(("outside", reading.outside))
            elif reading.value in maker:
                names.append((*sides, "row", maker[reading.value], number))
            else:
                names.append((*sides, "in", reading.value, number))
        windows.append(tuple(names))
    return tuple(windows)


def args_of(method: Method, index: int) -> tuple[int, ...]:
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    return call.args


def within_rows(image: types.Tensor) -> list[int]:
    """The order of dimensions within a row, of those that have several elements."""
    return [
        dim
        for dim in image.dim_order
        if dim not in (0, ROWS) and (dim != 1 or image.sizes[1] > 1)
    ]
