"""What a row of a call's output reads of each of its inputs; images and their rows.

Rows are those of images (1, channels, rows, columns), in memory channels last, or
channel by channel in planes. A row of these is a part of each plane; several rows that
were taken out are (1, rows, channels, columns) in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ember.files import tensors
from ember.files.tensors import DType
from ember.program import KernelCall, Method, types
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
    # The byte that rows outside of the image consist of, or LEAST_FLOAT.
    outside: int | None = None
    owner: int = -1  # the value that was written where `value` lies, maybe itself
    tensor: types.Tensor = _UNKNOWN  # the type of the value
    item: int | None = None  # of the list that the argument is
    beside: int = 0  # columns at either side that lie outside of the image
    fill: int | None = None  # the byte that these consist of
    is_over: bool = False  # the result of a row may be written over this row


@dataclass(frozen=True)
class UnreadResult:
    """What a call writes beside its result, and nobody reads."""

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
    made: int = 1  # rows of the output that it makes at a time
    transposed: bool = False  # it has other rows of its input than that says
    over: bool = False  # its whole result may lie where its one input does
    is_elementwise: bool = False  # and may be given parts of rows
    tensor: types.Tensor = _UNKNOWN  # the type of `out`
    operator: types.Operator | None = None  # of its node, where that is another
    # Of that node, where they are others: values of the method, or new ones.
    arguments: tuple[int | types.Value, ...] | None = None
    renewed: int = 0  # rows after which its result, to which it adds, begins anew
    result: int = -1  # value: `out` as the call names it
    unread: tuple[UnreadResult, ...] = ()

    @property
    def unread_bytes(self) -> int:
        """Of what it writes beside its result, at a time; aligned."""
        return sum(
            -(-row_bytes(each.tensor) * self.made // ALIGN) * ALIGN
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
    return not tensors.same_order(image.sizes, image.dim_order, _ORDER)


def planes(image: types.Tensor) -> int:
    """Of which each has a part of a row."""
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


def ints(method: Method, value: int) -> tuple[int, ...]:
    """The integers of a list, or of one number; empty where they are not stated."""
    stated = method.values[value]
    if isinstance(stated, types.Int):
        return (stated.value,)
    return method.int_list(stated) or () if isinstance(stated, types.IntList) else ()


def pairs(
    method: Method, call: KernelCall, *args: int
) -> Iterator[tuple[int, int] | None]:
    """For rows and for columns; one number stands for both."""
    for arg in args:
        items = ints(method, call.args[arg])
        yield (items[0], items[-1]) if len(items) in (1, 2) else None


@dataclass(frozen=True)
class TurnedRows:
    """How a transposed convolution makes as many rows at a time as its stride is."""

    before: int  # rows that it reads before the one whose first tap lies on the first
    extent: int  # rows that it reads
    padding: int  # of its node
    added: int  # what its node's output has more


def turned(stride: int, padding: int, reach: int) -> TurnedRows | None:
    """`reach` is from the first tap to the last one; None where no node does it."""
    before = max((reach - padding) // stride, 0)
    own = padding + before * stride
    extent = (stride - 1 + padding) // stride + before + 1
    # What a node's output has less than it must have, which can only be added.
    less = stride - ((extent - 1) * stride - 2 * own + reach + 1)
    if less < 0:  # one row more before, which `own` leaves out at both ends
        before, own, extent = before + 1, own + stride, extent + 1
        less += stride
    return TurnedRows(before, extent, own, less) if 0 <= less < max(stride, 2) else None


Form = Callable[[Method, int, KernelCall], RowCall | None]


def elementwise(*inputs: int) -> Form:
    def form(method: Method, index: int, call: KernelCall) -> RowCall | None:
        out = method.values[call.args[-1]]
        for arg in inputs:
            tensor = method.values[call.args[arg]]
            if not isinstance(tensor, types.Tensor) or not isinstance(
                out, types.Tensor
            ):
                return None
            if tensor.sizes != out.sizes:
                return None
        reads = tuple(RowRead(arg, call.args[arg]) for arg in inputs)
        return RowCall(index, call.args[-1], reads, is_elementwise=True)

    return form
