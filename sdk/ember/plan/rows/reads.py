"""A call becomes what a row of its output reads of each of its inputs.

Rows are those of images (1, channels, rows, columns), channels last in memory. A call
that is not listed here, or has a form that is not, runs on whole tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ember.files import tensors
from ember.files.tensors import DType
from ember.program import KernelCall, Method, types

_ORDER = (0, 2, 3, 1)  # channels last
_ROWS = 2  # the dimension
_RANK = 4
_LEAST = 0x80  # of int8, as a byte
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
    outside: int | None = None  # the byte that rows outside of the image consist of
    owner: int = -1  # the value that was written where `value` lies, maybe itself
    tensor: types.Tensor = _UNKNOWN  # the type of the value
    item: int | None = None  # of the list that the argument is
    beside: int = 0  # columns at either side that lie outside of the image
    fill: int | None = None  # the byte that these consist of


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
    renewed: int = 0  # rows after which its result, to which it adds, begins anew


def of_call(method: Method, index: int) -> RowCall | None:
    """None where the call cannot run by rows."""
    call = method.instructions[index]
    if not isinstance(call, KernelCall):
        return None
    form = _FORMS.get(method.operators[call.op_index].full_name)
    row_call = form(method, index, call) if form else None
    if row_call is None or not _fits(method, row_call):
        return None
    return _typed(method, row_call)


def _typed(method: Method, call: RowCall) -> RowCall:
    reads = (replace(read, tensor=_tensor(method, read.value)) for read in call.reads)
    return replace(call, reads=tuple(reads), tensor=_tensor(method, call.out))


def _tensor(method: Method, value: int) -> types.Tensor:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor)
    return tensor


def over_calls(method: Method) -> list[int]:
    """Calls whose whole result lies where their one input does."""
    calls = (of_call(method, index) for index in range(len(method.instructions)))
    return [
        call.index for call in calls if call and call.over and _lies_over(method, call)
    ]


def _lies_over(method: Method, call: RowCall) -> bool:
    return call.reads[0].tensor.allocation == call.tensor.allocation


def resolved(call: RowCall, owners: Mapping[int, int]) -> RowCall:
    """The call with the owners of what it reads."""
    reads = (replace(read, owner=owners[read.value]) for read in call.reads)
    return replace(call, reads=tuple(reads))


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
    return types.Tensor(tensor.dtype, sizes, tensor.dim_order)


def is_image(value: types.Value) -> bool:
    return (
        isinstance(value, types.Tensor)
        and len(value.sizes) == _RANK
        and value.sizes[0] == 1
        and value.numel > 0
        and not value.is_dynamic
        and value.allocation is not None
        and value.data_index == 0
        and not value.is_external
        and tensors.same_order(value.sizes, value.dim_order, _ORDER)
    )


def _fits(method: Method, call: RowCall) -> bool:
    """Whether the shapes are those that the rows say."""
    out = method.values[call.out]
    if not is_image(out) or not isinstance(out, types.Tensor):
        return False
    for read in call.reads:
        tensor = method.values[read.value]
        if not is_image(tensor) or not isinstance(tensor, types.Tensor):
            return False
        room = rows(tensor) + 2 * read.padding - read.extent
        as_many = room >= 0 and room // read.stride + 1 == rows(out)
        if not (as_many or call.transposed) or read.value == call.out:
            return False
    return rows(out) % call.made == 0


# ---- forms -----------------------------------------------------------------------


def _ints(method: Method, value: int) -> tuple[int, ...]:
    """The integers of a list, or of one number; empty where they are not stated."""
    stated = method.values[value]
    if isinstance(stated, types.Int):
        return (stated.value,)
    return method.int_list(stated) or () if isinstance(stated, types.IntList) else ()


def _pairs(
    method: Method, call: KernelCall, *args: int
) -> Iterator[tuple[int, int] | None]:
    """For rows and for columns; one number stands for both."""
    for arg in args:
        items = _ints(method, call.args[arg])
        yield (items[0], items[-1]) if len(items) in (1, 2) else None


def _elementwise(*inputs: int) -> Callable[..., RowCall | None]:
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


def _convolution(
    offset: int, scratch: int, over: Callable[..., bool]
) -> Callable[..., RowCall | None]:
    """Of the dialect: `offset` is the argument that is added to each input; `over` says
    by channels and taps whether every core has a kernel that writes its result where
    its input is, if they are alike."""

    def form(method: Method, index: int, call: KernelCall) -> RowCall | None:
        stride, padding, dilation = _pairs(method, call, 3, 4, 5)
        weights = method.values[call.args[1]]
        added = method.values[call.args[offset]]
        if not (stride and padding and dilation and isinstance(added, types.Int)):
            return None
        if not isinstance(weights, types.Tensor) or len(weights.sizes) != _RANK:
            return None
        extent = dilation[0] * (weights.sizes[1] - 1) + 1
        zero = -added.value
        if padding[0] > 0 and not -128 <= zero <= 127:
            return None
        fill = zero & 0xFF if -128 <= zero <= 127 else None
        read = RowRead(
            0,
            call.args[0],
            extent,
            stride[0],
            padding[0],
            outside=fill if padding[0] > 0 else None,
            beside=padding[1] if fill is not None else 0,
            fill=fill,
        )
        alike = _are_alike(method, call)
        return RowCall(
            index,
            call.args[-1],
            (read,),
            ((4, 0),),
            4,
            (call.args[scratch],),
            over=stride == (1, 1) and alike and over(weights.sizes, dilation),
        )

    return form


def _transposed(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """Of the dialect: makes as many rows at a time as its stride is, of rows around the
    one whose first tap lies on the first of them."""
    stride, padding, dilation = _pairs(method, call, 3, 4, 6)
    weights = method.values[call.args[1]]
    added = method.values[call.args[7]]
    if not (stride and padding and dilation and isinstance(added, types.Int)):
        return None
    if not isinstance(weights, types.Tensor) or len(weights.sizes) != _RANK:
        return None
    zero, step = -added.value, stride[0]
    reach = dilation[0] * (weights.sizes[1] - 1)
    before = max((reach - padding[0]) // step, 0)
    own = padding[0] + before * step
    extent = (step - 1 + padding[0]) // step + before + 1
    # What a node's output has less than it must have, which can only be added.
    less = step - ((extent - 1) * step - 2 * own + reach + 1)
    if less < 0:  # one row more before, which `own` leaves out at both ends
        before, own, extent, less = before + 1, own + step, extent + 1, less + step
    if not (-128 <= zero <= 127 and 0 <= less < max(step, 2)):
        return None
    read = RowRead(0, call.args[0], extent, 1, before, outside=zero & 0xFF)
    return RowCall(
        index,
        call.args[-1],
        (read,),
        ((4, own), (5, less)),
        scratch=(call.args[13], call.args[14]),
        made=step,
        transposed=True,
    )


def _are_alike(method: Method, call: KernelCall) -> bool:
    x, y = (_tensor(method, call.args[arg]) for arg in (0, -1))
    return x.sizes == y.sizes


def _is_point(weights: tuple[int, ...], _: tuple[int, int]) -> bool:
    """Pixels in groups of four channels, which are words when outputs take their place
    (columns_dsp.c)."""
    return weights[1:3] == (1, 1) and weights[3] % 4 == 0


def _is_line(weights: tuple[int, ...], dilation: tuple[int, int]) -> bool:
    """3 x 3 taps, and no channel twice: blocks of four or sixteen, or a part of one
    (depthwise_lines_dsp.c, quantized_depthwise_conv2d_mve.c)."""
    channels = weights[3]
    blocks = channels % 16 == 0 or (channels < 16 and channels % 4 == 0)
    return weights[1:3] == (3, 3) and dilation == (1, 1) and blocks


def _pad(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """Of columns alone; amounts are those of (n, h, w, c)."""
    x, y = method.values[call.args[0]], method.values[call.args[-1]]
    if not isinstance(x, types.Tensor) or not isinstance(y, types.Tensor):
        return None
    amounts = [_ints(method, call.args[arg]) for arg in (1, 2)]
    columns = all(len(each) == _RANK and not any(each[:2]) for each in amounts)
    if not columns or x.dim_order[:2] != (0, 2) or x.sizes[:3] != y.sizes[:3]:
        return None
    return RowCall(index, call.args[-1], (RowRead(0, call.args[0]),))


def _max_pool(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """What lies outside of the image is less than anything inside."""
    kernel, stride, padding, dilation = _pairs(method, call, 1, 2, 3, 4)
    if not (kernel and stride and padding) or dilation != (1, 1):
        return None
    outside = _LEAST if padding[0] > 0 else None
    read = RowRead(0, call.args[0], kernel[0], stride[0], padding[0], outside)
    if padding[0] == 0:
        return RowCall(index, call.args[-1], (read,))
    return RowCall(index, call.args[-1], (read,), ((3, 0),), 3)


def _avg_pool(method: Method, index: int, call: KernelCall) -> RowCall | None:
    kernel, stride, padding = _pairs(method, call, 1, 2, 3)
    if not (kernel and stride and padding) or padding[0] > 0:
        return None
    read = RowRead(0, call.args[0], kernel[0], stride[0])
    return RowCall(index, call.args[-1], (read,))


def _cat(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """Of channels."""
    given, dim = method.values[call.args[0]], method.values[call.args[1]]
    out = method.values[call.args[-1]]
    if not isinstance(given, types.TensorList) or not isinstance(out, types.Tensor):
        return None
    if not isinstance(dim, types.Int) or dim.value not in (1, 1 - _RANK):
        return None
    for value in given.items:
        tensor = method.values[value]
        if not isinstance(tensor, types.Tensor) or tensor.dtype != out.dtype:
            return None
        if len(tensor.sizes) != _RANK or tensor.sizes[2:] != out.sizes[2:]:
            return None
    reads = (RowRead(0, value, item=item) for item, value in enumerate(given.items))
    return RowCall(index, call.args[-1], tuple(reads))


_FORMS: dict[str, Callable[..., RowCall | None]] = {
    "cortex_m::quantize_per_tensor.out": _elementwise(0),
    "cortex_m::dequantize_per_tensor.out": _elementwise(0),
    "cortex_m::quantized_activation.out": _elementwise(0),
    "cortex_m::quantized_add.out": _elementwise(0, 4),
    "cortex_m::quantized_mul.out": _elementwise(0, 2),
    "cortex_m::pad.out": _pad,
    "cortex_m::minimum.out": _elementwise(0, 1),
    "cortex_m::maximum.out": _elementwise(0, 1),
    "cortex_m::quantized_conv2d.out": _convolution(6, 12, _is_point),
    "cortex_m::quantized_depthwise_conv2d.out": _convolution(7, 13, _is_line),
    "cortex_m::quantized_transpose_conv2d.out": _transposed,
    "cortex_m::quantized_max_pool2d.out": _max_pool,
    "cortex_m::quantized_avg_pool2d.out": _avg_pool,
    "aten::cat.out": _cat,
}
