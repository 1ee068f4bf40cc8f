"""A call of ATen's operators becomes what a row of its output reads.

Of float32, but for what only moves elements. A call that is not listed here, or has a
form that is not, runs on whole tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ember.files.tensors import DType
from ember.plan.rows.reads import (
    LEAST_FLOAT,
    RANK,
    Form,
    RowCall,
    RowRead,
    UnreadResult,
    ints,
    is_image,
    pairs,
    tensor_of,
    turned,
)
from ember.plan.rows.row_regions import BILINEAR
from ember.program import KernelCall, Method, types

_ROWS, _COLUMNS = -2, -1  # dimensions
_FACTORS = (1, 2, 4, 8, 16)
_FOUR = 4  # neighbours that kernels compute side by side


def _is_float(method: Method, *values: int) -> bool:
    tensors = (method.values[value] for value in values)
    return all(
        isinstance(tensor, types.Tensor) and tensor.dtype is DType.FLOAT32
        for tensor in tensors
    )


def _mapped(operands: int) -> Form:
    """Elements by themselves; operands that are no images are numbers, or constants
    that are the same for all rows."""

    def form(method: Method, index: int, call: KernelCall) -> RowCall | None:
        out = call.args[-1]
        if not _is_float(method, out):
            return None
        reads, cuttable = [], True
        for arg, value in enumerate(call.args[:operands]):
            operand = method.values[value]
            if not isinstance(operand, types.Tensor):
                continue
            if operand.dtype is not DType.FLOAT32:
                return None
            if operand.sizes == tensor_of(method, out).sizes:
                reads.append(RowRead(arg, value))
            elif not _is_of_all_rows(operand):
                return None
            cuttable = cuttable and (operand.sizes or (1,))[_COLUMNS] == 1
        cuttable = cuttable or len(reads) == operands
        return RowCall(index, out, tuple(reads), is_elementwise=cuttable)

    return form


def _is_of_all_rows(operand: types.Tensor) -> bool:
    rows = operand.sizes[_ROWS] if len(operand.sizes) > 1 else 1
    return operand.allocation is None and operand.data_index > 0 and rows == 1


def _batch_norm(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """With statistics that are given; two of its results are empty."""
    out, *others = call.args[7:10]
    if not _is_float(method, call.args[0], out):
        return None
    if any(tensor_of(method, value).numel > 0 for value in others):
        return None
    return RowCall(index, out, (RowRead(0, call.args[0]),), is_elementwise=True)


def _convolution(method: Method, index: int, call: KernelCall) -> RowCall | None:
    stride, padding, dilation = pairs(method, call, 3, 4, 5)
    weights, is_turned = method.values[call.args[1]], method.values[call.args[6]]
    if not (stride and padding and dilation and isinstance(is_turned, types.Bool)):
        return None
    if not isinstance(weights, types.Tensor) or len(weights.sizes) != RANK:
        return None
    if not _is_float(method, call.args[0], call.args[1], call.args[-1]):
        return None
    reach = dilation[0] * (weights.sizes[_ROWS] - 1)
    if is_turned.value:
        return _transposed(method, index, call, reach)
    if _may_run_along_columns(method, call):
        return None
    outside = 0 if padding[0] > 0 else None
    read = RowRead(0, call.args[0], reach + 1, stride[0], padding[0], outside)
    return RowCall(index, call.args[-1], (read,), firsts=((4, 0),))


def _transposed(
    method: Method, index: int, call: KernelCall, reach: int
) -> RowCall | None:
    stride, padding = pairs(method, call, 3, 4)
    assert stride is not None and padding is not None
    rows = turned(stride[0], padding[0], reach)
    if rows is None:
        return None
    read = RowRead(0, call.args[0], rows.extent, 1, rows.before, outside=0)
    return RowCall(
        index,
        call.args[-1],
        (read,),
        firsts=((4, rows.padding), (7, rows.added)),
        made=stride[0],
        transposed=True,
    )


def _may_run_along_columns(method: Method, call: KernelCall) -> bool:
    """Whether a kernel may take columns for lines in the whole image, where it adds up
    in another order than in a row (convolution_f32.c, convolution_f32_depthwise.c and
    convolution_f32_depthwise_fpu.c)."""
    image, weights, out = (tensor_of(method, call.args[n]) for n in (0, 1, -1))
    rows, columns = out.sizes[_ROWS:]
    is_narrow = columns < 2 * _FOUR and rows > 2 * columns
    if weights.sizes[1] > 1 or image.sizes[1] == 1:
        return is_narrow
    by_rows = -(-columns // _FOUR) * _FOUR * rows
    by_columns = -(-rows // _FOUR) * _FOUR * columns
    return is_narrow or columns < _FOUR + 2 < rows or by_columns < by_rows


def _max_pool(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """Of the indices nobody reads, they are counted from other rows."""
    kernel, stride, padding, dilation = pairs(method, call, 1, 2, 3, 4)
    if not (kernel and padding) or not _is_float(method, call.args[0]):
        return None
    if dilation not in (None, (1, 1)):
        return None
    out, indices = call.args[6:8]
    windows = (kernel[0], (stride or kernel)[0], padding[0])
    unread = (UnreadResult(indices, tensor_of(method, indices)),)
    return replace(_pool(index, call, out, windows, LEAST_FLOAT), unread=unread)


def _avg_pool(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """What lies outside of the image adds nothing, and must count."""
    kernel, stride, padding = pairs(method, call, 1, 2, 3)
    counts = method.values[call.args[5]]
    if not (kernel and padding) or not _is_float(method, call.args[0]):
        return None
    if padding[0] > 0 and not (isinstance(counts, types.Bool) and counts.value):
        return None
    windows = (kernel[0], (stride or kernel)[0], padding[0])
    return _pool(index, call, call.args[-1], windows, 0)


def _pool(
    index: int, call: KernelCall, out: int, windows: tuple[int, int, int], outside: int
) -> RowCall:
    """Windows are rows, stride and padding; what lies around the image is `outside`."""
    *_, padding = windows
    if padding == 0:
        return RowCall(index, out, (RowRead(0, call.args[0], *windows),))
    read = RowRead(0, call.args[0], *windows, outside)
    return RowCall(index, out, (read,), firsts=((3, 0),))


def _cat(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """Of channels."""
    given, dim = method.values[call.args[0]], method.values[call.args[1]]
    out = method.values[call.args[-1]]
    if not isinstance(given, types.TensorList) or not isinstance(out, types.Tensor):
        return None
    if not isinstance(dim, types.Int) or dim.value not in (1, 1 - RANK):
        return None
    for value in given.items:
        tensor = method.values[value]
        if not isinstance(tensor, types.Tensor) or tensor.dtype != out.dtype:
            return None
        if len(tensor.sizes) != RANK or tensor.sizes[2:] != out.sizes[2:]:
            return None
    reads = (RowRead(0, value, item=item) for item, value in enumerate(given.items))
    return RowCall(index, call.args[-1], tuple(reads))


def _upsample(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """Of the nearest pixel, as many rows of one as the factor is: a power of two, whose
    steps are exact."""
    image, out = (method.values[call.args[n]] for n in (0, -1))
    if not isinstance(image, types.Tensor) or not isinstance(out, types.Tensor):
        return None
    if len(image.sizes) != RANK or len(out.sizes) != RANK or image.sizes[_ROWS] == 0:
        return None
    factor = _factor(image, out)
    if factor not in _FACTORS:
        return None
    firsts = ((1, factor),) if ints(method, call.args[1]) else ()
    read = RowRead(0, call.args[0])
    return RowCall(
        index,
        call.args[-1],
        (read,),
        firsts=firsts,
        made=factor,
        transposed=True,
    )


def _factor(image: types.Tensor, out: types.Tensor) -> int:
    """Rows of an image for each one of another; 0 where that is no integer."""
    factor, rest = divmod(out.sizes[_ROWS], image.sizes[_ROWS])
    return 0 if rest else factor


def _bilinear(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """A row of the result lies between rows next to the one of the image that it
    belongs to; how it is mixed of them depends on its number, so its node is told that
    (numbered.py)."""
    image, out = (method.values[call.args[n]] for n in (0, -1))
    if not is_image(image) or not is_image(out) or not _is_float(method, call.args[0]):
        return None
    assert isinstance(image, types.Tensor) and isinstance(out, types.Tensor)
    factor = _factor(image, out)
    if factor == 0:
        return None
    read = RowRead(0, call.args[0], extent=3, padding=1, outside=0)
    return RowCall(
        index, call.args[-1], (read,), made=factor, transposed=True, operator=BILINEAR
    )


_UNARY = (
    *("abs", "clamp", "elu", "exp", "gelu", "hardtanh", "leaky_relu", "neg", "relu"),
    *("rsqrt", "sigmoid", "silu", "sqrt", "tanh"),
)
_BINARY = ("add", "div", "maximum", "minimum", "mul", "sub")
_SCALAR = ("add", "div", "mul", "sub")
FORMS: Mapping[str, Form] = {
    **{f"aten::{name}.out": _mapped(1) for name in _UNARY},
    **{f"aten::{name}.out": _mapped(2) for name in _BINARY},
    **{f"aten::{name}.Scalar_out": _mapped(1) for name in _SCALAR},
    "aten::_native_batch_norm_legit_no_training.out": _batch_norm,
    "aten::convolution.out": _convolution,
    "aten::max_pool2d_with_indices.out": _max_pool,
    "aten::avg_pool2d.out": _avg_pool,
    "aten::cat.out": _cat,
    "aten::upsample_nearest2d.vec_out": _upsample,
    "aten::upsample_bilinear2d.vec_out": _bilinear,
}
