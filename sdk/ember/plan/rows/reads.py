"""What a row of a call's output reads of each of its inputs; images and their rows.

Rows are those of images (1, channels, rows, columns), in memory channels last, or
channel by channel in planes. A row of these is a part of each plane; several rows that
were taken out are (1, rows, channels, columns) in memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ember.files import tensors
from ember.files.tensors import DType
from ember.kernels.schemas import NamedCall
from ember.program import Method, types
from ember.program.types import ALIGN

_ORDER = (0, 2, 3, 1)  # channels last
_PLANES = (0, 1, 2, 3)  # channels first
_LINES = (0, 2, 1, 3)  # of several rows of planes in one piece
_ROWS = 2  # the dimension
RANK = 4
LEAST = 0x80  # of int8, as a byte
LEAST_FLOAT = 0x100  # stands for the bytes of -infinity
_UNKNOWN = types.Tensor(DType.UINT8, (0,), (0,))


@dataclass(frozen=True)
class RowRead:
    """Row r of the output reads `extent` rows from r * stride - padding on; of a call
    that makes several rows at a time, r counts those times."""

    arg: int  # where the input stands in the call
    value: int  # as the call names it
    extent: int = 1
    stride: int = 1
    padding: int = 0
    # Fill byte for rows outside the image, or LEAST_FLOAT.
    outside: int | None = None
    owner: int = -1  # the value that was written at the place of `value`, maybe itself
    tensor: types.Tensor = _UNKNOWN  # the type of the value
    item: int | None = None  # of the list that the argument is
    beside: int = 0  # columns at either side, outside of the image
    fill: int | None = None  # their fill byte
    past: int = 0  # rows that the last one reads past the padding (`ceil_mode`)
    is_over: bool = False  # the result of a row may be written over this row


@dataclass(frozen=True)
class UnreadResult:
    """What a call writes beside its result, and no call reads."""

    value: int
    tensor: types.Tensor


@dataclass(frozen=True)
class RowCall:
    """A call that can run row by row."""

    index: int  # of the instruction
    out: int  # value
    reads: tuple[RowRead, ...]
    # Lists whose first item, that of rows, is another for a node: (argument, item).
    firsts: tuple[tuple[int, int], ...] = ()
    padding_arg: int | None = None  # one of them: the last item is that of columns
    scratch: tuple[int, ...] = ()  # values: the exporter's, which no kernel reads
    step: int = 1  # rows of the output that it makes at a time
    transposed: bool = False  # it has other rows of its input than that says
    over: bool = False  # its whole result may be written over its one input
    is_elementwise: bool = False  # and may be given parts of rows
    tensor: types.Tensor = _UNKNOWN  # the type of `out`
    operator: types.Operator | None = None  # of its node, where that is another
    # Of that node, where they are others: values of the method, or new ones.
    arguments: tuple[int | types.Value, ...] | None = None
    renewed: int = 0  # rows after which its result, to which it adds, starts again at 0
    result: int = -1  # value: `out` as the call names it
    unread: tuple[UnreadResult, ...] = ()

    @property
    def unread_bytes(self) -> int:
        """Bytes that it writes beside its result at a time, aligned."""
        return sum(
            -(-row_bytes(each.tensor) * self.step // ALIGN) * ALIGN
            for each in self.unread
        )


def resolved(
    call: RowCall, owners: Mapping[int, int], *, is_over: bool = False
) -> RowCall:
    """The call with the owners of what it reads; `is_over`: its kernels may write a row
    over one of its kind that they read."""
    reads = (
        replace(
            read, owner=owners[read.value], is_over=is_over and _are_alike(call, read)
        )
        for read in call.reads
    )
    return replace(call, reads=tuple(reads))


def _are_alike(call: RowCall, read: RowRead) -> bool:
    a, b = call.tensor, read.tensor
    same = (a.dtype, a.sizes) == (b.dtype, b.sizes)
    return same and tensors.same_order(a.sizes, a.dim_order, b.dim_order)


def row_bytes(tensor: types.Tensor) -> int:
    return tensor.nbytes // tensor.sizes[_ROWS]


def rows(tensor: types.Tensor) -> int:
    return tensor.sizes[_ROWS]


def column_bytes(tensor: types.Tensor) -> int:
    return tensor.sizes[1] * tensor.dtype.itemsize


def with_rows(tensor: types.Tensor, count: int, beside: int = 0) -> types.Tensor:
    """The type of `count` rows of an image, with columns at either side."""
    n, c, _, w = tensor.sizes
    sizes = (n, c, count, w + 2 * beside)
    order = _LINES if count > 1 and are_planes(tensor) else tensor.dim_order
    return types.Tensor(tensor.dtype, sizes, order)


def are_planes(image: types.Tensor) -> bool:
    """Whether a row is not in one piece: each channel is a plane."""
    return _differ(image.sizes, image.dim_order)


@functools.cache
def _differ(sizes: tuple[int, ...], order: tuple[int, ...]) -> bool:
    return not tensors.same_order(sizes, order, _ORDER)


def planes(image: types.Tensor) -> int:
    """How many planes an image has; each has a part of a row."""
    return image.sizes[1] if are_planes(image) else 1


def is_image(value: types.Value) -> bool:
    return (
        isinstance(value, types.Tensor)
        and len(value.sizes) == RANK
        and value.sizes[0] == 1
        and value.numel > 0
        and not value.is_dynamic
        and value.allocation is not None
        and value.data_index == 0
        and not value.is_external
        and any(
            tensors.same_order(value.sizes, value.dim_order, order)
            for order in (_ORDER, _PLANES)
        )
    )


# ---- for forms -------------------------------------------------------------------


def tensor_of(method: Method, value: int) -> types.Tensor:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor)
    return tensor


def ints(call: NamedCall, name: str) -> tuple[int, ...]:
    """The integers of a list, or of one number; empty where they are not stated."""
    stated = call.value(name)
    if isinstance(stated, types.Int):
        return (stated.value,)
    return (
        call.method.int_list(stated) or () if isinstance(stated, types.IntList) else ()
    )


def pair(call: NamedCall, name: str) -> tuple[int, int] | None:
    """For rows and for columns; one number stands for both."""
    items = ints(call, name)
    return (items[0], items[-1]) if len(items) in (1, 2) else None


def rows_past(call: NamedCall, windows: tuple[int, int, int]) -> int:
    """Rows by which the last window of a pool reaches past its image's padding, by its
    `ceil_mode`. Windows are rows, stride and padding."""
    if not call.is_true("ceil_mode"):
        return 0
    extent, stride, padding = windows
    height = rows(call.tensor(call.first))
    room = height + 2 * padding - extent
    past = -room % stride
    return past if room + past < height + padding else 0


def read_of(call: NamedCall, name: str, **how: int | None) -> RowRead:
    """How rows of an argument are read."""
    return RowRead(call.place(name), call[name], **how)  # type: ignore[arg-type]


@dataclass(frozen=True)
class TurnedRows:
    """How a transposed convolution makes as many rows at a time as its stride is."""

    before: int  # rows that it reads before the one whose first tap is on the first
    extent: int  # rows that it reads
    padding: int  # of its node
    added: int  # what its node's output has more


def turned(stride: int, padding: int, reach: int) -> TurnedRows | None:
    """`reach` is from the first tap to the last one; None where no node does it."""
    before = max((reach - padding) // stride, 0)
    inner = padding + before * stride  # padding of the node
    extent = (stride - 1 + padding) // stride + before + 1
    # What a node's output has less than it must have, which can only be added.
    less = stride - ((extent - 1) * stride - 2 * inner + reach + 1)
    if less < 0:  # one row more before, which `inner` leaves out at both ends
        before, inner, extent = before + 1, inner + stride, extent + 1
        less += stride
    fits = 0 <= less < max(stride, 2)
    return TurnedRows(before, extent, inner, less) if fits else None


Form = Callable[[int, NamedCall], RowCall | None]


def elementwise(*inputs: str) -> Form:
    def form(index: int, call: NamedCall) -> RowCall | None:
        tensors = [call.value(name) for name in (*inputs, "out")]
        if not all(isinstance(tensor, types.Tensor) for tensor in tensors):
            return None
        if len({tensor.sizes for tensor in tensors}) > 1:  # type: ignore[union-attr]
            return None
        reads = tuple(read_of(call, name) for name in inputs)
        return RowCall(index, call.result, reads, is_elementwise=True)

    return form
