"""A call becomes one that can run row by row, if its form and its shapes are known.

For calls that move windows over an image, the names of their arguments and the `window`
of their operator in kernels.yaml say what a row of the output reads. Of ATen's other
operators those of float32 can run by rows, and those that only move elements. A call
that is not listed here, or has another form, runs on whole tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.kernels.library import OperatorWindow
from ember.kernels.schemas import NamedCall
from ember.plan.rows.reads import (
    LEAST,
    LEAST_FLOAT,
    RANK,
    Form,
    RowCall,
    RowRead,
    UnreadResult,
    elementwise,
    ints,
    is_image,
    pair,
    read_of,
    rows,
    rows_past,
    tensor_of,
    turned,
)
from ember.plan.rows.row_regions import BILINEAR
from ember.program import KernelCall, Method, types


def of_call(method: Method, known: KernelList, index: int) -> RowCall | None:
    """None where the call cannot run by rows."""
    call = method.instructions[index]
    if not isinstance(call, KernelCall):
        return None
    row_call = _found(index, known.named(method, call), known)
    if row_call is None or not _fits(method, row_call):
        return None
    return _typed(method, row_call)


def _found(index: int, call: NamedCall, known: KernelList) -> RowCall | None:
    """By its operator, of whatever shapes."""
    form = FORMS.get(call.operator)
    if form is not None:
        return form(index, call)
    operator = known.operators.get(call.operator)
    window = operator.window if operator else None
    return row_call(index, call, window) if window else None


def _typed(method: Method, call: RowCall) -> RowCall:
    reads = (replace(read, tensor=tensor_of(method, read.value)) for read in call.reads)
    out = tensor_of(method, call.out)
    return replace(call, reads=tuple(reads), result=call.out, tensor=out)


def over_calls(method: Method, known: KernelList) -> list[int]:
    """Calls whose whole result is written over their one input."""
    calls = (of_call(method, known, index) for index in range(len(method.instructions)))
    return [
        call.index for call in calls if call and call.over and _lies_over(method, call)
    ]


def _lies_over(method: Method, call: RowCall) -> bool:
    return call.reads[0].tensor.allocation == call.tensor.allocation


def _fits(method: Method, call: RowCall) -> bool:
    """Whether the shapes agree with the rows that are read."""
    out = method.values[call.out]
    if not is_image(out) or not isinstance(out, types.Tensor):
        return False
    for read in call.reads:
        tensor = method.values[read.value]
        if not is_image(tensor) or not isinstance(tensor, types.Tensor):
            return False
        room = rows(tensor) + 2 * read.padding + read.past - read.extent
        as_many = room >= 0 and room // read.stride + 1 == rows(out)
        if not (as_many or call.transposed) or read.value == call.out:
            return False
    return rows(out) % call.step == 0


# ---- calls that move windows ---------------------------------------------------------


_ROWS, _COLUMNS = -2, -1  # dimensions
_FOUR = 4  # neighbours that kernels compute side by side
_OFFSET = "-input_offset"
_LEAST = {DType.INT8: LEAST, DType.FLOAT32: LEAST_FLOAT}


def row_call(index: int, call: NamedCall, window: OperatorWindow) -> RowCall | None:
    """None for a form of the call that runs on whole tensors."""
    if window.images == "f32" and not is_float(call, call.first, "out"):
        return None
    moved = _convolution if "weight" in call else _pool
    return moved(index, call, window)


def is_float(call: NamedCall, *names: str) -> bool:
    tensors = map(call.value, names)
    return all(
        isinstance(tensor, types.Tensor) and tensor.dtype is DType.FLOAT32
        for tensor in tensors
    )


def _convolution(index: int, call: NamedCall, window: OperatorWindow) -> RowCall | None:
    stride, padding = pair(call, "stride"), pair(call, "padding")
    dilation, taps = pair(call, "dilation"), _taps(call, window)
    outside = _outside(call, window)
    if not (stride and padding and dilation) or taps is None or outside is None:
        return None
    reach = dilation[0] * (taps - 1)
    if "output_padding" in call and call.is_true("transposed", otherwise=True):
        return _transposed(index, call, stride[0], padding[0], reach, outside)
    fits = -128 <= outside <= 127
    if (padding[0] > 0 and not fits) or _may_run_along_columns(call, window):
        return None
    fill = outside & 0xFF if fits else None
    has_sides = window.outside == _OFFSET and fits
    read = read_of(
        call,
        call.first,
        extent=reach + 1,
        stride=stride[0],
        padding=padding[0],
        outside=fill if padding[0] > 0 else None,
        beside=padding[1] if has_sides else 0,
        fill=fill if has_sides else None,
    )
    place = call.place("padding")
    over = stride == (1, 1) and _may_lie_over(call, window, dilation)
    return RowCall(
        index, call.result, (read,), ((place, 0),), place, _scratch(call), over=over
    )


def _taps(call: NamedCall, window: OperatorWindow) -> int | None:
    """Rows of the weights, which are (out, rows, columns, in), but in ATen."""
    weights = call.value("weight")
    if not isinstance(weights, types.Tensor) or len(weights.sizes) != RANK:
        return None
    if window.images == "f32" and not is_float(call, "weight"):
        return None
    return weights.sizes[2 if call.operator.startswith("aten::") else 1]


def _outside(call: NamedCall, window: OperatorWindow) -> int | None:
    """The number around the image of a convolution; None where it is unknown."""
    if window.outside != _OFFSET:
        return 0
    offset, image = call.value("input_offset"), call.tensor(call.first)
    if not isinstance(offset, types.Int) or image.dtype.itemsize != 1:
        return None
    return -offset.value


def _transposed(
    index: int, call: NamedCall, stride: int, padding: int, reach: int, outside: int
) -> RowCall | None:
    """Makes as many rows at a time as its stride, from the rows around the one whose
    first tap is on the first of them."""
    rows = turned(stride, padding, reach)
    if rows is None or not -128 <= outside <= 127:
        return None
    read = read_of(
        call,
        call.first,
        extent=rows.extent,
        padding=rows.before,
        outside=outside & 0xFF,
    )
    firsts = {"padding": rows.padding, "output_padding": rows.added}
    return RowCall(
        index,
        call.result,
        (read,),
        firsts=tuple((call.place(name), first) for name, first in firsts.items()),
        scratch=_scratch(call),
        step=stride,
        transposed=True,
    )


def _scratch(call: NamedCall) -> tuple[int, ...]:
    """The scratch tensors of the exporter: earlier versions had none."""
    values = call.method.values
    return tuple(v for v in call.scratch if isinstance(values[v], types.Tensor))


def _may_lie_over(
    call: NamedCall, window: OperatorWindow, dilation: tuple[int, int]
) -> bool:
    """Whether every core has a kernel that writes its result where its input is."""
    are_alike = call.tensor(call.first).sizes == call.tensor("out").sizes
    if not are_alike or not window.over:
        return False
    return _OVER[window.over](call.tensor("weight").sizes, dilation)


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


# By sizes of weights, and dilation.
_OVER: Mapping[str, Callable[[tuple[int, ...], tuple[int, int]], bool]] = {
    "points": _is_point,
    "lines": _is_line,
}


def _may_run_along_columns(call: NamedCall, window: OperatorWindow) -> bool:
    """Whether a kernel of floats may take columns for lines in the whole image, where
    it adds up in another order than in a row (convolution_f32.c,
    convolution_f32_depthwise.c and convolution_f32_depthwise_fpu.c)."""
    if window.images != "f32":
        return False
    image, weights, out = map(call.tensor, ("input", "weight", "out"))
    rows, columns = out.sizes[_ROWS:]
    is_narrow = columns < 2 * _FOUR and rows > 2 * columns
    if weights.sizes[1] > 1 or image.sizes[1] == 1:
        return is_narrow
    by_rows = -(-columns // _FOUR) * _FOUR * rows
    by_columns = -(-rows // _FOUR) * _FOUR * columns
    return is_narrow or columns < _FOUR + 2 < rows or by_columns < by_rows


def _pool(index: int, call: NamedCall, window: OperatorWindow) -> RowCall | None:
    """A pool whose indices are unread: they would count from other rows."""
    kernel, padding = pair(call, "kernel_size"), pair(call, "padding")
    if not (kernel and padding) or not _is_dense(call):
        return None
    is_least = window.outside == "least"
    around = _LEAST.get(call.tensor(call.first).dtype) if is_least else 0
    if around is None or not _counts(call, window, padding[0]):
        return None
    windows = (kernel[0], (pair(call, "stride") or kernel)[0], padding[0])
    extent, stride, beside = windows
    past = rows_past(call, windows) if is_least else 0
    read = read_of(
        call,
        call.first,
        extent=extent,
        stride=stride,
        padding=beside,
        outside=around if beside + past > 0 else None,
        past=past,
    )
    firsts = ((call.place("padding"), 0),) if beside else ()
    return RowCall(index, call["out"], (read,), firsts, unread=_unread(call))


def _counts(call: NamedCall, window: OperatorWindow, padding: int) -> bool:
    """Whether the numbers around the image count, if there are any. A mean must count
    its padding; it never counts rows past that."""
    if not window.outside:
        return padding == 0 and not call.is_true("ceil_mode")
    return padding == 0 or call.is_true("count_include_pad", otherwise=True)


def _is_dense(call: NamedCall) -> bool:
    return "dilation" not in call or pair(call, "dilation") in (None, (1, 1))


def _unread(call: NamedCall) -> tuple[UnreadResult, ...]:
    """The indices that a pool writes beside its result, if it has them."""
    indices = call.value("indices") if "indices" in call else None
    if not isinstance(indices, types.Tensor):
        return ()
    return (UnreadResult(call["indices"], indices),)


# ---- calls that move none ------------------------------------------------------------


_FACTORS = (1, 2, 4, 8, 16)


def _mapped(*operands: str) -> Form:
    """Element-wise; operands other than images are numbers, or constants that are the
    same for all rows."""

    def form(index: int, call: NamedCall) -> RowCall | None:
        if not is_float(call, "out"):
            return None
        reads, cuttable = [], True
        for name in operands:
            operand = call.value(name)
            if not isinstance(operand, types.Tensor):
                continue
            if operand.dtype is not DType.FLOAT32:
                return None
            if operand.sizes == call.tensor("out").sizes:
                reads.append(read_of(call, name))
            elif not _is_of_all_rows(operand):
                return None
            cuttable = cuttable and (operand.sizes or (1,))[_COLUMNS] == 1
        cuttable = cuttable or len(reads) == len(operands)
        return RowCall(index, call.result, tuple(reads), is_elementwise=cuttable)

    return form


def _is_of_all_rows(operand: types.Tensor) -> bool:
    rows = operand.sizes[_ROWS] if len(operand.sizes) > 1 else 1
    return operand.allocation is None and operand.data_index > 0 and rows == 1


def _batch_norm(index: int, call: NamedCall) -> RowCall | None:
    """A batch norm with given statistics; two of its results are empty."""
    if not is_float(call, "input", "out0"):
        return None
    if any(call.tensor(name).numel > 0 for name in ("out1", "out2")):
        return None
    read = read_of(call, "input")
    return RowCall(index, call["out0"], (read,), is_elementwise=True)


def _pad(index: int, call: NamedCall) -> RowCall | None:
    """Padding of columns only; amounts are those of (n, h, w, c)."""
    x, y = call.value("input"), call.value("out")
    if not isinstance(x, types.Tensor) or not isinstance(y, types.Tensor):
        return None
    amounts = [ints(call, name) for name in ("pre_pad", "post_pad")]
    columns = all(len(each) == RANK and not any(each[:2]) for each in amounts)
    if not columns or x.dim_order[:2] != (0, 2) or x.sizes[:3] != y.sizes[:3]:
        return None
    return RowCall(index, call.result, (read_of(call, "input"),))


def _cat(index: int, call: NamedCall) -> RowCall | None:
    """A concatenation of channels."""
    given, dim, out = map(call.value, ("tensors", "dim", "out"))
    if not isinstance(given, types.TensorList) or not isinstance(out, types.Tensor):
        return None
    if not isinstance(dim, types.Int) or dim.value not in (1, 1 - RANK):
        return None
    for value in given.items:
        tensor = call.method.values[value]
        if not isinstance(tensor, types.Tensor) or tensor.dtype != out.dtype:
            return None
        if len(tensor.sizes) != RANK or tensor.sizes[2:] != out.sizes[2:]:
            return None
    place = call.place("tensors")
    reads = (RowRead(place, value, item=item) for item, value in enumerate(given.items))
    return RowCall(index, call.result, tuple(reads))


def _upsample(index: int, call: NamedCall) -> RowCall | None:
    """Repeats each row as often as the factor says: a power of two, whose steps are
    exact."""
    image, out = call.value("input"), call.value("out")
    if not isinstance(image, types.Tensor) or not isinstance(out, types.Tensor):
        return None
    if len(image.sizes) != RANK or len(out.sizes) != RANK or image.sizes[_ROWS] == 0:
        return None
    factor = _factor(image, out)
    if factor not in _FACTORS:
        return None
    size = call.place("output_size")
    return RowCall(
        index,
        call.result,
        (read_of(call, "input"),),
        firsts=((size, factor),) if ints(call, "output_size") else (),
        step=factor,
        transposed=True,
    )


def _factor(image: types.Tensor, out: types.Tensor) -> int:
    """Rows of the output for each row of the image; 0 where that is not an integer."""
    factor, rest = divmod(out.sizes[_ROWS], image.sizes[_ROWS])
    return 0 if rest else factor


def _bilinear(index: int, call: NamedCall) -> RowCall | None:
    """A row of the result is mixed of rows beside the one of the image that it belongs
    to; how depends on its number, so its node is told that (lives.py)."""
    image, out = call.value("input"), call.value("out")
    if not is_image(image) or not is_image(out) or not is_float(call, "input"):
        return None
    assert isinstance(image, types.Tensor) and isinstance(out, types.Tensor)
    factor = _factor(image, out)
    if factor == 0:
        return None
    read = read_of(call, "input", extent=3, padding=1, outside=0)
    return RowCall(
        index, call.result, (read,), step=factor, transposed=True, operator=BILINEAR
    )


_UNARY = (
    *("abs", "clamp", "elu", "exp", "gelu", "hardtanh", "leaky_relu", "neg", "relu"),
    *("rsqrt", "sigmoid", "silu", "sqrt", "tanh"),
)
_BINARY = ("add", "div", "maximum", "minimum", "mul", "sub")
_SCALAR = ("add", "div", "mul", "sub")
FORMS: Mapping[str, Form] = {
    "cortex_m::quantize_per_tensor.out": elementwise("input"),
    "cortex_m::dequantize_per_tensor.out": elementwise("input"),
    "cortex_m::quantized_activation.out": elementwise("input"),
    "cortex_m::quantized_add.out": elementwise("self", "other"),
    "cortex_m::quantized_mul.out": elementwise("self", "other"),
    "cortex_m::quantized_div.out": elementwise("self", "other"),
    "cortex_m::pad.out": _pad,
    "cortex_m::minimum.out": elementwise("self", "other"),
    "cortex_m::maximum.out": elementwise("self", "other"),
    **{f"aten::{name}.out": _mapped("self") for name in _UNARY},
    **{f"aten::{name}.out": _mapped("self", "other") for name in _BINARY},
    **{f"aten::{name}.Scalar_out": _mapped("self") for name in _SCALAR},
    "aten::_native_batch_norm_legit_no_training.out": _batch_norm,
    "aten::cat.out": _cat,
    "aten::upsample_nearest2d.vec_out": _upsample,
    "aten::upsample_bilinear2d.vec_out": _bilinear,
}
