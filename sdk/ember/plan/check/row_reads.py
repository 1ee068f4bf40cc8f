"""A node of a region becomes the rows that it must find, by its call without rows.

The rows that a call reads are stated here again, by operator: the check shares nothing
with what makes regions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ember.files.tensors import DType
from ember.kernels.schemas import NamedCall
from ember.plan.check.row_machine import (
    LEAST,
    ROWS,
    CheckedRegion,
    Row,
    columns_of,
    listed,
    name_of,
    number_of,
    result_of,
    tensor_of,
    windows_of,
)
from ember.program import Method, types

_POINTWISE = {
    "cortex_m::quantize_per_tensor.out": ("input",),
    "cortex_m::dequantize_per_tensor.out": ("input",),
    "cortex_m::quantized_activation.out": ("input",),
    "cortex_m::quantized_add.out": ("self", "other"),
    "cortex_m::quantized_mul.out": ("self", "other"),
    "cortex_m::quantized_div.out": ("self", "other"),
    "cortex_m::pad.out": ("input",),
    "aten::cat.out": ("tensors",),
    "cortex_m::minimum.out": ("self", "other"),
    "cortex_m::maximum.out": ("self", "other"),
}
_ATEN_UNARY = (
    *("abs", "clamp", "elu", "exp", "gelu", "hardtanh", "leaky_relu", "neg", "relu"),
    *("rsqrt", "sigmoid", "silu", "sqrt", "tanh"),
)
_ATEN_BINARY = ("add", "div", "maximum", "minimum", "mul", "sub")
_ATEN_SCALAR = ("add", "div", "mul", "sub")
_POINTWISE |= {
    "aten::_native_batch_norm_legit_no_training.out": ("input",),
    **{f"aten::{name}.out": ("self",) for name in _ATEN_UNARY},
    **{f"aten::{name}.out": ("self", "other") for name in _ATEN_BINARY},
    **{f"aten::{name}.Scalar_out": ("self",) for name in _ATEN_SCALAR},
}
_ELEMENTWISE = {*_POINTWISE} - {"cortex_m::pad.out", "aten::cat.out"}
_POOL = "cortex_m::quantized_avg_pool2d.out"
_SUMS, _MEANS = "ember::avg_pool_sums.out", "ember::avg_pool_means.out"
_SUMMED = ("kernel_size", "stride", "padding", "zero_point", "multiplier", "shift")
_MOVED = ("stride", "padding", "dilation")


def of_node(
    pair: NodePair, region: CheckedRegion, same: Mapping[int, int]
) -> tuple[tuple[RowReading, ...], str]:
    """What the node of a call reads, and what is wrong with it."""
    call, node = pair.call, pair.node
    if _is_turned(call):
        return _turned_back(pair, same)
    if call.operator in RESIZES:
        return RESIZES[call.operator](pair, same)
    if tensor_of(node.method, result_of(node.method, pair.index)).sizes[ROWS] != 1:
        return (), "makes several rows at a time"
    if node.operator in (_SUMS, _MEANS):
        return _of_sums(pair, same)
    whole, fault = _whole_call(call, same)
    if region.pieces > 1:
        return whole, fault or _piece_fault(pair, region)
    if not fault and not _lie_alike(pair, whole, region.slab):
        fault = "has rows in another order"
    sided, other = _with_sides(whole, pair, region.slab)
    return sided, fault or other


def _is_turned(call: NamedCall) -> bool:
    """Whether a call is a transposed convolution."""
    return "output_padding" in call and call.is_true("transposed", otherwise=True)


def _lie_alike(pair: NodePair, readings: tuple[RowReading, ...], slab: int) -> bool:
    """Whether channels and columns of windows are in the order of the images."""
    before, method = pair.call.method, pair.node.method
    wholes = [*(reading.value for reading in readings), _result_of(pair.call)]
    windows = list(windows_of(method, pair.index, slab))
    return len(windows) == len(wholes) and all(
        within_rows(tensor_of(before, whole)) == within_rows(tensor_of(method, value))
        for whole, value in zip(wholes, windows, strict=True)
    )


def _result_of(call: NamedCall) -> int:
    """The first of its results."""
    return listed(call.method, call.result)[0]


def _piece_fault(pair: NodePair, region: CheckedRegion) -> str:
    """The fault of a call with parts of rows: it must be element-wise, and all parts
    alike."""
    call, method = pair.call, pair.node.method
    n, c, _, w = tensor_of(call.method, _result_of(call)).sizes
    windows = windows_of(method, pair.index, region.slab)
    alike = {tensor_of(method, value).sizes for value in windows}
    same = alike == {(n, c, 1, w // region.pieces)} and w % region.pieces == 0
    fits = same and call.operator in _ELEMENTWISE
    return "" if fits else "has other columns than its call"


def _turned_back(
    pair: NodePair, same: Mapping[int, int]
) -> tuple[tuple[RowReading, ...], str]:
    """A transposed convolution: its row r sees row i of the image by tap
    r + padding - i * stride. A node makes as many rows as its stride is, and must see
    the same rows by the same taps: by its padding and the first of its rows."""
    call, node = pair.call, pair.node
    stride, padding, dilation = (number_of(call, name) for name in _MOVED)
    image, rows = call.tensor("input"), node.tensor("input")
    whole, part = call.tensor("out"), node.tensor("out")
    reach = (_taps(call) - 1) * dilation
    earlier, rest = divmod(number_of(node, "padding") - padding, stride)
    first, last = -((reach - padding) // stride), (stride - 1 + padding) // stride
    extent = rows.sizes[ROWS]
    other = (
        rest != 0
        or -earlier > first
        or extent - earlier <= last
        or part.sizes[ROWS] != stride
        or whole.sizes[ROWS] % stride != 0
        or rows.sizes[ROWS + 1] != image.sizes[ROWS + 1]
        or any(
            columns_of(call, name) != columns_of(node, name)
            for name in (*_MOVED, "output_padding")
        )
        or any(
            number_of(call, name) != number_of(node, name)
            for name in ("stride", "dilation")
        )
        or [within_rows(image), within_rows(whole)]
        != [within_rows(rows), within_rows(part)]
    )
    reading = RowReading(same[call["input"]], extent, 1, earlier, _outside(call))
    return (reading,), "sees other rows than its call" if other else ""


def _taps(call: NamedCall) -> int:
    """Rows of its weights, which are (out, rows, ..) but in ATen."""
    return call.tensor("weight").sizes[2 if call.operator.startswith("aten::") else 1]


def _outside(call: NamedCall) -> int:
    """The byte around its image, or LEAST."""
    if "input_offset" in call:
        return -number_of(call, "input_offset") & 0xFF
    if "max_pool" in call.operator:
        return 0x80 if call.tensor(call.first).dtype is DType.INT8 else LEAST
    return 0


def _of_sums(
    pair: NodePair, same: Mapping[int, int]
) -> tuple[tuple[RowReading, ...], str]:
    """A pool without padding whose windows do not overlap: one node adds row after
    row to what it has, which is nothing at the first row of a window; the next one
    takes that behind the last row."""
    call, node = pair.call, pair.node
    rows, step = number_of(call, "kernel_size"), number_of(call, "stride")
    step = step if call.tensor("out").sizes[ROWS] > 1 else rows
    other = (
        call.operator != _POOL
        or step < rows
        or number_of(call, "padding") != 0
        or call.value("ceil_mode") != types.Bool(False)
        or any(call.value(name) != node.value(name) for name in _SUMMED)
    )
    fault = "adds up other windows than its call" if other else ""
    if node.operator == _MEANS:
        fault = fault or ("" if pair.previous == _SUMS else "has no sums")
        return (RowReading(-1, 1, step, 1 - rows, 0, of_sums=True),), fault
    image = RowReading(same[call["input"]], 1, 1, 0, 0)
    return (image, RowReading(-1, 1, step, 0, 0, before=True)), fault


def same_places(method: Method) -> Mapping[int, int]:
    """By planned value, the first one at its place."""
    places: dict[object, int] = {}
    return {
        value: places.setdefault((tensor.allocation, tensor.nbytes), value)
        for value, tensor in method.tensors
        if tensor.allocation is not None
    }


def _whole_call(
    call: NamedCall, same: Mapping[int, int]
) -> tuple[tuple[RowReading, ...], str]:
    """What a row of a call's result reads, and why that is not so."""
    if call.operator in _POINTWISE:
        values = itertools.chain.from_iterable(
            listed(call.method, call[name]) for name in _POINTWISE[call.operator]
        )
        images = [value for value in values if value in same]
        return tuple(RowReading(same[value], 1, 1, 0, 0) for value in images), ""
    padding = number_of(call, "padding")
    taps = _taps(call) if "weight" in call else number_of(call, "kernel_size")
    stride = taps if _is_empty(call.value("stride")) else number_of(call, "stride")
    step = number_of(call, "dilation") if "dilation" in call else 1
    extent = (taps - 1) * step + 1
    reading = RowReading(
        same[call[call.first]],
        extent,
        stride,
        padding,
        _outside(call),
        columns_of(call, "padding"),
    )
    image, out = call.tensor(call.first), tensor_of(call.method, _result_of(call))
    end = (out.sizes[ROWS] - 1) * stride - padding + extent - image.sizes[ROWS]
    is_counted = call.is_true("count_include_pad")
    left_out = end > padding if is_counted else padding > 0 or end > 0
    is_mean = "avg_pool" in call.operator  # of elements inside, maybe of the padding
    return (reading,), "leaves out what is padding" if is_mean and left_out else ""


def _is_empty(stated: types.Value) -> bool:
    return isinstance(stated, types.IntList) and not stated.items


def _with_sides(
    readings: tuple[RowReading, ...], pair: NodePair, slab: int
) -> tuple[tuple[RowReading, ...], str]:
    """What the node of a call reads, and what is wrong with its columns."""
    node = pair.node
    inner = columns_of(node, "padding") if "padding" in node else 0
    windows = windows_of(node.method, pair.index, slab, out=False)
    sided = []
    for reading, value in zip(readings, windows, strict=False):
        whole = tensor_of(pair.call.method, reading.value)
        window = tensor_of(node.method, value)
        wider = window.sizes[ROWS + 1] - whole.sizes[ROWS + 1]
        if wider != 2 * (reading.columns - inner) or wider < 0:
            return readings, "has other columns than its call"
        sided.append(
            replace(reading, sides=wider // 2 * whole.sizes[1] * whole.dtype.itemsize)
        )
    return tuple(sided), ""


# ---- the rows that a node must find --------------------------------------------------


@dataclass(frozen=True)
class NodePair:
    """A node of a region, and the call that it stands for in a method without."""

    call: NamedCall
    node: NamedCall
    index: int  # of the node's instruction

    @property
    def previous(self) -> str:
        """The operator of the node before."""
        return name_of(self.node.method, self.index - 1)


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


def within_rows(image: types.Tensor) -> list[int]:
    """The order of dimensions within a row, of those that have several elements."""
    return [
        dim
        for dim in image.dim_order
        if dim not in (0, ROWS) and (dim != 1 or image.sizes[1] > 1)
    ]


# ---- enlarged images -----------------------------------------------------------------


_Readings = tuple[tuple[RowReading, ...], str]
_NUMBER = "ember::row_number.out"
_HOW = ("align_corners", "scale_factors")


def _repeated(pair: NodePair, same: Mapping[int, int]) -> _Readings:
    """A call that repeats each pixel: rows f * i to f * i + f - 1 are row i of the
    image, where all of them are such; a node has one row and makes f."""
    call, node = pair.call, pair.node
    image, whole = call.tensor("input"), call.tensor("out")
    row, rows = node.tensor("input"), node.tensor("out")
    factor = whole.sizes[ROWS] // image.sizes[ROWS]
    step = np.float32(1 / factor)
    is_listed = isinstance(node.value("output_size"), types.IntList)
    other = (
        whole.sizes[ROWS] != image.sizes[ROWS] * factor
        or any(
            int(np.float32(n) * step) != n // factor for n in range(whole.sizes[ROWS])
        )
        or (row.sizes[ROWS], rows.sizes[ROWS]) != (1, factor)
        or (row.sizes[ROWS + 1], rows.sizes[ROWS + 1])
        != (image.sizes[ROWS + 1], whole.sizes[ROWS + 1])
        or call.value("scale_factors") != node.value("scale_factors")
        or (is_listed and number_of(node, "output_size") != factor)
        or [within_rows(image), within_rows(whole)]
        != [within_rows(row), within_rows(rows)]
    )
    reading = RowReading(same[call["input"]], 1, 1, 0, 0)
    return (reading,), "repeats other rows than its call" if other else ""


def _mixed(pair: NodePair, same: Mapping[int, int]) -> _Readings:
    """A call that mixes each pixel of four: row i of the image and those beside it are
    enough for rows f * i to f * i + f - 1. One node counts rows, the next one must know
    which one it is given."""
    call, node = pair.call, pair.node
    image, whole = call.tensor("input"), call.tensor("out")
    if node.operator == _NUMBER:
        count = RowReading(-1, 1, image.sizes[ROWS], 0, 0, before=True)
        return (count,), ""
    rows, larger = node.tensor("rows"), node.tensor("out")
    factor, rest = divmod(whole.sizes[ROWS], image.sizes[ROWS])
    other = (
        rest != 0
        or (rows.sizes[ROWS], larger.sizes[ROWS]) != (3, factor)
        or (rows.sizes[ROWS + 1], larger.sizes[ROWS + 1])
        != (image.sizes[ROWS + 1], whole.sizes[ROWS + 1])
        or pair.previous != _NUMBER
        or number_of(node, "image_rows") != image.sizes[ROWS]
        or any(call.value(name) != node.value(name) for name in _HOW)
        or not _are_beside(call, image.sizes[ROWS], factor)
        or [within_rows(image), within_rows(whole)]
        != [within_rows(rows), within_rows(larger)]
    )
    readings = (
        RowReading(same[call["input"]], 3, 1, 1, 0),
        RowReading(-1, 1, 1, 0, 0, of_sums=True),
    )
    return readings, "mixes other rows than its call" if other else ""


def _are_beside(call: NamedCall, height: int, factor: int) -> bool:
    """Whether rows of the result are mixed of rows beside the one that they belong to,
    with the steps of float32 that kernels compute."""
    is_aligned, factors = map(call.value, _HOW)
    rows = np.arange(height * factor)
    places = rows.astype(np.float32)
    half = np.float32(0.5)
    if is_aligned == types.Bool(True):
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


RESIZES: Mapping[str, Callable[[NodePair, Mapping[int, int]], _Readings]] = {
    "aten::upsample_nearest2d.vec_out": _repeated,
    "aten::upsample_bilinear2d.vec_out": _mixed,
}
