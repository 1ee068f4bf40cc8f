"""A node of a region becomes the rows that it must find, by its call without rows.

What rows a call reads is said here once more, by operator: nothing is shared with what
makes regions.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ember.plan.check import row_resizes
from ember.plan.check.row_machine import LEAST
from ember.plan.check.row_programs import (
    ROWS,
    CheckedRegion,
    columns_of,
    listed,
    name_of,
    number_of,
    result_of,
    tensor_of,
    windows_of,
)
from ember.plan.check.row_reading import RowReading, args_of, within_rows
from ember.program import KernelCall, Method, types

_POINTWISE = {
    "cortex_m::quantize_per_tensor.out": (0,),
    "cortex_m::dequantize_per_tensor.out": (0,),
    "cortex_m::quantized_activation.out": (0,),
    "cortex_m::quantized_add.out": (0, 4),
    "cortex_m::quantized_mul.out": (0, 2),
    "cortex_m::pad.out": (0,),
    "aten::cat.out": (0,),
    "cortex_m::minimum.out": (0, 1),
    "cortex_m::maximum.out": (0, 1),
}
_ATEN_UNARY = (
    *("abs", "clamp", "elu", "exp", "gelu", "hardtanh", "leaky_relu", "neg", "relu"),
    *("rsqrt", "sigmoid", "silu", "sqrt", "tanh"),
)
_ATEN_BINARY = ("add", "div", "maximum", "minimum", "mul", "sub")
_ATEN_SCALAR = ("add", "div", "mul", "sub")
_POINTWISE |= {
    "aten::_native_batch_norm_legit_no_training.out": (0,),
    **{f"aten::{name}.out": (0,) for name in _ATEN_UNARY},
    **{f"aten::{name}.out": (0, 1) for name in _ATEN_BINARY},
    **{f"aten::{name}.Scalar_out": (0,) for name in _ATEN_SCALAR},
}
_ELEMENTWISE = {*_POINTWISE} - {"cortex_m::pad.out", "aten::cat.out"}


@dataclass(frozen=True)
class _Places:
    """Where the arguments of a call stand that moves windows over images."""

    stride: int
    padding: int
    kernel: int | None = None  # None: that of the weights
    dilation: int | None = None
    offset: int | None = None  # that is added to the image
    outside: int = 0  # where no offset says it: the byte that lies there, or LEAST
    taps: int = 1  # the dimension of weights in which rows of taps are
    counts: int | None = None  # must be true where there is padding
    added: int | None = None  # to the output, of a transposed convolution
    turned: int | None = None  # true: such a one


_ATEN_CONVOLUTION = "aten::convolution.out"
_WINDOWED = {
    "cortex_m::quantized_conv2d.out": _Places(3, 4, dilation=5, offset=6),
    "cortex_m::quantized_depthwise_conv2d.out": _Places(3, 4, dilation=5, offset=7),
    "cortex_m::quantized_max_pool2d.out": _Places(2, 3, 1, 4, outside=0x80),
    "cortex_m::quantized_avg_pool2d.out": _Places(2, 3, 1, outside=0x80),
    _ATEN_CONVOLUTION: _Places(3, 4, dilation=5, taps=2, added=7, turned=6),
    "aten::max_pool2d_with_indices.out": _Places(2, 3, 1, 4, outside=LEAST),
    "aten::avg_pool2d.out": _Places(2, 3, 1, counts=5),
    "cortex_m::quantized_transpose_conv2d.out": _Places(
        3, 4, dilation=6, offset=7, added=5
    ),
}


_TRANSPOSED = "cortex_m::quantized_transpose_conv2d.out"
_POOL = "cortex_m::quantized_avg_pool2d.out"
_SUMS, _MEANS = "ember::avg_pool_sums.out", "ember::avg_pool_means.out"


def of_node(
    pair: tuple[Method, int, Method, int],
    region: CheckedRegion,
    same: Mapping[int, int],
) -> tuple[tuple[RowReading, ...], str]:
    """What a node reads that stands for a call, and what is wrong with it."""
    before, old, method, new = pair
    if _is_turned(before, old):
        return _turned_back(pair, same)
    if name_of(before, old) in row_resizes.RESIZES:
        return row_resizes.RESIZES[name_of(before, old)](pair, same)
    if tensor_of(method, result_of(method, new)).sizes[ROWS] != 1:
        return (), "makes several rows at a time"
    if name_of(method, new) in (_SUMS, _MEANS):
        return _of_sums(pair, same)
    whole, fault = _whole_call(before, old, same)
    if region.pieces > 1:
        return whole, fault or _piece_fault(pair, region)
    if not fault and not _lie_alike(pair, whole, region.slab):
        fault = "has rows that lie in another order"
    sided, other = _with_sides(whole, pair, region.slab)
    return sided, fault or other


def _is_turned(method: Method, index: int) -> bool:
    """Whether a call is a transposed convolution."""
    name, args = name_of(method, index), args_of(method, index)
    if name != _ATEN_CONVOLUTION:
        return name == _TRANSPOSED
    turned = _WINDOWED[name].turned
    return turned is not None and _is_true(method, args[turned])


def _is_true(method: Method, value: int) -> bool:
    stated = method.values[value]
    return isinstance(stated, types.Bool) and stated.value


def _lie_alike(
    pair: tuple[Method, int, Method, int],
    readings: tuple[RowReading, ...],
    slab: int,
) -> bool:
    """Whether channels and columns of windows lie as in the images."""
    before, old, method, new = pair
    wholes = [*(reading.value for reading in readings), result_of(before, old)]
    windows = list(windows_of(method, new, slab))
    return len(windows) == len(wholes) and all(
        within_rows(tensor_of(before, whole)) == within_rows(tensor_of(method, value))
        for whole, value in zip(wholes, windows, strict=True)
    )


def _piece_fault(pair: tuple[Method, int, Method, int], region: CheckedRegion) -> str:
    """A call of elements may be given parts of rows, all alike."""
    before, old, method, new = pair
    n, c, _, w = tensor_of(before, result_of(before, old)).sizes
    windows = windows_of(method, new, region.slab)
    alike = {tensor_of(method, value).sizes for value in windows}
    same = alike == {(n, c, 1, w // region.pieces)} and w % region.pieces == 0
    fits = same and name_of(before, old) in _ELEMENTWISE
    return "" if fits else "has other columns than its call"


def _turned_back(
    pair: tuple[Method, int, Method, int], same: Mapping[int, int]
) -> tuple[tuple[RowReading, ...], str]:
    """Of a transposed convolution: its row r sees row i of the image by tap
    r + padding - i * stride. A node makes as many rows as its stride is, and must see
    the same rows by the same taps: by its padding and the first of its rows."""
    before, old, method, new = pair
    args, own = args_of(before, old), args_of(method, new)
    places = _WINDOWED[name_of(before, old)]
    assert places.dilation is not None and places.added is not None
    stated = (places.stride, places.padding, places.dilation)
    stride, padding, dilation = (number_of(before, args[n]) for n in stated)
    image, rows = tensor_of(before, args[0]), tensor_of(method, own[0])
    reach = (tensor_of(before, args[1]).sizes[places.taps] - 1) * dilation
    earlier, rest = divmod(number_of(method, own[places.padding]) - padding, stride)
    first, last = -((reach - padding) // stride), (stride - 1 + padding) // stride
    extent = rows.sizes[ROWS]
    images = (image, tensor_of(before, args[-1]))
    other = (
        rest != 0
        or -earlier > first
        or extent - earlier <= last
        or tensor_of(method, own[-1]).sizes[ROWS] != stride
        or images[1].sizes[ROWS] % stride != 0
        or rows.sizes[ROWS + 1] != image.sizes[ROWS + 1]
        or any(
            columns_of(before, args[n]) != columns_of(method, own[n])
            for n in (*stated, places.added)
        )
        or any(
            number_of(before, args[n]) != number_of(method, own[n])
            for n in (places.stride, places.dilation)
        )
        or [within_rows(image) for image in images]
        != [within_rows(tensor_of(method, own[n])) for n in (0, -1)]
    )
    reading = RowReading(
        same[args[0]], extent, 1, earlier, _outside(before, args, places)
    )
    return (reading,), "sees other rows than its call" if other else ""


def _outside(method: Method, args: tuple[int, ...], places: _Places) -> int:
    if places.offset is None:
        return places.outside
    return -number_of(method, args[places.offset]) & 0xFF


def _of_sums(
    pair: tuple[Method, int, Method, int], same: Mapping[int, int]
) -> tuple[tuple[RowReading, ...], str]:
    """Of a pool without padding whose windows do not overlap: one node adds row after
    row to what it has, which is nothing at the first row of a window; the next one
    takes that behind the last row."""
    before, old, method, new = pair
    call, node = before.instructions[old], method.instructions[new]
    assert isinstance(call, KernelCall) and isinstance(node, KernelCall)
    rows, step = (number_of(before, call.args[n]) for n in (1, 2))
    step = step if tensor_of(before, call.args[-1]).sizes[ROWS] > 1 else rows
    other = (
        before.operators[call.op_index].full_name != _POOL
        or step < rows
        or number_of(before, call.args[3]) != 0
        or any(
            before.values[call.args[n]] != method.values[node.args[n]]
            for n in range(1, 7)
        )
    )
    fault = "adds up other windows than its call" if other else ""
    if name_of(method, new) == _MEANS:
        fault = fault or ("" if name_of(method, new - 1) == _SUMS else "has no sums")
        return (RowReading(-1, 1, step, 1 - rows, 0, of_sums=True),), fault
    image = RowReading(same[call.args[0]], 1, 1, 0, 0)
    return (image, RowReading(-1, 1, step, 0, 0, before=True)), fault


def same_places(method: Method) -> Mapping[int, int]:
    """Of each planned value the first one that lies at its place."""
    places: dict[object, int] = {}
    return {
        value: places.setdefault((tensor.allocation, tensor.nbytes), value)
        for value, tensor in method.tensors
        if tensor.allocation is not None
    }


def _whole_call(
    method: Method, index: int, same: Mapping[int, int]
) -> tuple[tuple[RowReading, ...], str]:
    """What a row of a call's result reads, and why that is not so."""
    name, args = name_of(method, index), args_of(method, index)
    if name in _POINTWISE:
        values = itertools.chain.from_iterable(
            listed(method, args[arg]) for arg in _POINTWISE[name]
        )
        images = [value for value in values if value in same]
        return tuple(RowReading(same[value], 1, 1, 0, 0) for value in images), ""
    places = _WINDOWED[name]
    padding = number_of(method, args[places.padding])
    if places.kernel is None:
        taps = stride = tensor_of(method, args[1]).sizes[places.taps]
    else:
        taps = stride = number_of(method, args[places.kernel])
    if not _is_empty(method, args[places.stride]):
        stride = number_of(method, args[places.stride])
    step = 1 if places.dilation is None else number_of(method, args[places.dilation])
    left_out = places.counts is not None and not _is_true(method, args[places.counts])
    reading = RowReading(
        same[args[0]],
        (taps - 1) * step + 1,
        stride,
        padding,
        _outside(method, args, places),
        columns_of(method, args[places.padding]),
    )
    return (reading,), "leaves out what is padding" if padding and left_out else ""


def _is_empty(method: Method, value: int) -> bool:
    stated = method.values[value]
    return isinstance(stated, types.IntList) and not stated.items


def _with_sides(
    readings: tuple[RowReading, ...],
    pair: tuple[Method, int, Method, int],
    slab: int,
) -> tuple[tuple[RowReading, ...], str]:
    """What a node reads that stands for a call, and what is wrong with its columns."""
    before, _, method, new = pair
    sided = []
    for reading, value in zip(
        readings, windows_of(method, new, slab, out=False), strict=False
    ):
        whole, window = tensor_of(before, reading.value), tensor_of(method, value)
        wider = window.sizes[ROWS + 1] - whole.sizes[ROWS + 1]
        left = reading.columns - _padding_of(method, new)
        if wider != 2 * left or wider < 0:
            return readings, "has other columns than its call"
        sided.append(
            replace(reading, sides=wider // 2 * whole.sizes[1] * whole.dtype.itemsize)
        )
    return tuple(sided), ""


def _padding_of(method: Method, index: int) -> int:
    """Of a call's columns."""
    call = method.instructions[index]
    assert isinstance(call, KernelCall)
    name = method.operators[call.op_index].full_name
    return (
        0
        if name in _POINTWISE
        else columns_of(method, call.args[_WINDOWED[name].padding])
    )
