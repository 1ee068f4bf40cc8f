# SPDX-License-Identifier: Apache-2.0
"""A program of one call becomes what PyTorch computes of its inputs.

The operator is called by its name in torch.ops: first as a function, whose results have
PyTorch's dtypes and strides, then, if the program's outputs have other dtypes, as the
variant that writes them. Dialects compute by their own reference implementations.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import typing
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import one_call
import torch
import typing_extensions

from calls.sizes import Call
from ember.files import tensors
from ember.files.tensors import Array, DType
from ember.program import types

Results = list[torch.Tensor]
_REGISTER = (
    "torch.ao.quantization.fx._decomposed",
    "executorch.exir.passes._quant_patterns_and_replacements",
    "executorch.exir.passes.dim_order_ops_registry",
    "executorch.extension.llm.custom_ops.custom_ops",
    "executorch.backends.cortex_m.passes.cortex_m_pass_manager",
    "executorch.backends.cadence.aot.ops_registrations",
    "executorch.backends.cadence.aot.ref_implementations",
)
_SHORT = (torch.float16, torch.bfloat16)
# About 1.5 units in the last place of the short types, which kernels round once.
_TOLERANCES = {
    torch.float64: (1e-9, 1e-11),
    torch.float32: (1e-5, 2e-6),
    torch.float16: (1.5e-3, 1e-4),
    torch.bfloat16: (1.2e-2, 1e-3),
}


class RefusedError(Exception):
    """PyTorch refuses the call; the message is its reason."""


class UnknownError(Exception):
    """PyTorch has no such operator, or its results are random."""


def ready(library: Path | None = None) -> None:
    """Registers the operators of ExecuTorch's flows with PyTorch; `library` has the
    portable C++ kernels of the cadence dialect (docs/cadence.md)."""
    typing.override = typing_extensions.override  # type: ignore[attr-defined]
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)  # what they miss for graphics cards
    for name in _REGISTER:
        with contextlib.suppress(Exception):  # of a flow that is not installed
            importlib.import_module(name)
    logging.disable(logging.NOTSET)
    if library is not None:
        torch.ops.load_library(str(library))
        _LOADED.append(library)


_LOADED: list[Path] = []


# ---- a call --------------------------------------------------------------------------


def results(call: Call, natural: bool = False) -> Results:
    """What the outputs of the call become; with `natural`, in PyTorch's own dtypes."""
    arguments = Arguments(call)
    with torch.no_grad():
        try:
            return _results(call, arguments, natural)
        except UnknownError:
            raise
        except Exception as error:  # torch raises whatever it likes
            lines = str(error).splitlines() or [""]
            raise RefusedError(lines[0]) from None


def _results(call: Call, arguments: Arguments, natural: bool) -> Results:
    given = arguments.given
    special = _SPECIAL.get(call.operator)
    if special is not None:
        computed = _listed(special(*given.values()))
    else:
        computed = _called(call.operator, arguments)
    wanted = arguments.out_dtypes
    if natural or special is not None or [x.dtype for x in computed] == wanted:
        return [*computed, *(given[name] for name in arguments.written)]
    if not call.operator.startswith("aten::"):
        raise RefusedError("results have other dtypes")
    operator = overload(call.operator)
    if operator is None:
        raise UnknownError
    return _listed(operator(**given, **arguments.empty_outs()))


def _called(name: str, arguments: Arguments) -> Results:
    """By the variant that only returns its results."""
    namespace, _, rest = name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), rest.partition(".")[0], None)
    if packet is None:
        raise UnknownError
    if namespace == "cadence" and _LOADED:
        return _by_library(name, packet, arguments)
    if namespace != "aten":
        return _listed(_functional(packet, rest.partition(".")[2], arguments))
    variant = overload(name)
    if variant is None or torch.Tag.nondeterministic_seeded in variant.tags:
        raise UnknownError
    try:
        return _listed(packet(**arguments.given))
    except (TypeError, RuntimeError):
        if arguments.written:
            raise  # Of full and zeros, the output has the dtype.
        return _listed(variant(**arguments.given, **arguments.empty_outs()))


def _functional(packet: Any, variant: str, arguments: Arguments) -> Any:
    """By position: dialects name arguments in their own way."""
    known = packet.overloads()
    word = variant.removesuffix("out").removesuffix("_") or "default"
    function = getattr(packet, word if word in known else known[0])
    fields = function._schema.arguments
    named = {x.name for x in fields if x.kwarg_only}
    keywords = {k: v for k, v in arguments.given.items() if k in named}
    placed = [v for k, v in arguments.given.items() if k not in named]
    if "dtype" in named - keywords.keys():  # of dim_order_ops: that of the output
        (keywords["dtype"],) = arguments.out_dtypes
    return function(*placed, **keywords)


def _by_library(name: str, packet: Any, arguments: Arguments) -> Results:
    """Bit for bit what the dialect's C++ gives, which does not resize its outputs."""
    given = arguments.given.values()
    meta = [x.to("meta") if isinstance(x, torch.Tensor) else x for x in given]
    shapes = [tuple(x.shape) for x in _listed(packet.default(*meta))]
    dtypes = arguments.out_dtypes
    outs = [torch.zeros(s, dtype=d) for s, d in zip(shapes, dtypes, strict=True)]
    named = dict(zip(arguments.outs, outs, strict=True))
    return _listed(
        getattr(packet, name.partition(".")[2])(*arguments.given.values(), **named)
    )


def _listed(value: Any) -> Results:
    return list(value) if isinstance(value, list | tuple) else [value]


def overload(name: str) -> Any:
    """torch.ops.aten.add.out of "aten::add.out", or None."""
    namespace, _, rest = name.partition("::")
    word, _, variant = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), word, None)
    return getattr(packet, variant or "default", None)


class Arguments:
    """The arguments of a call in PyTorch's terms."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.method = call.method
        (instruction,) = call.method.instructions
        assert isinstance(instruction, types.KernelCall)
        self.read = dict(zip(call.method.inputs, call.arrays, strict=True))
        self.given: dict[str, Any] = {}
        self.outs: list[str] = []
        self.written: dict[str, int] = {}  # read before, too
        self.out_dtypes: list[torch.dtype] = []
        self.out_indices: list[int] = []
        fields = one_call.fields(call.operator)
        operator = overload(call.operator)
        known = [x.name for x in operator._schema.arguments] if operator else []
        names = known if len(known) == len(fields) else [name for _, name in fields]
        for (kind, _), name, index in zip(
            fields, names, instruction.args, strict=False
        ):
            if "!" in kind and index not in self.read and not name.endswith("scratch"):
                self._out(name, index)
            else:
                self.given[name] = self._value(index, kind)
                if "!" in kind and index in self.read:
                    self.written[name] = index
        self.out_indices += self.written.values()

    def _out(self, name: str, index: int) -> None:
        value = self.method.values[index]
        items = value.items if isinstance(value, types.TensorList) else (index,)
        self.outs.append(name)
        for item in items:
            self.out_indices.append(item)
            self.out_dtypes.append(torch_type(self.declared(item).dtype))

    def empty_outs(self) -> dict[str, torch.Tensor]:
        pairs = zip(self.outs, self.out_dtypes, strict=False)
        return {name: torch.empty(0, dtype=dtype) for name, dtype in pairs}

    def declared(self, index: int) -> types.Tensor:
        value = self.method.values[index]
        if not isinstance(value, types.Tensor):
            raise UnknownError
        return value

    def _value(self, index: int, kind: str) -> Any:  # noqa: PLR0911 - a type each
        value = self.method.values[index]
        if isinstance(value, types.Int) and "ScalarType" in kind:
            return torch_type(DType(value.value))
        match value:
            case types.Tensor():
                return self._tensor(index, value)
            case types.Int() if "MemoryFormat" in kind:
                return {1: torch.preserve_format, 2: torch.channels_last}.get(
                    value.value, torch.contiguous_format
                )
            case types.Int() | types.Bool() | types.Double() | types.String():
                return value.value
            case types.IntList() | types.TensorList() | types.OptionalTensorList():
                return [None if i < 0 else self._value(i, "") for i in value.items]
            case types.DoubleList() | types.BoolList():
                return list(value.items)
        return None

    def _tensor(self, index: int, value: types.Tensor) -> torch.Tensor:
        array = self.read.get(index)
        if array is None and value.is_constant:
            data = bytes(self.call.program.constants[value.data_index])[: value.nbytes]
            array = tensors.from_bytes(data, value.dtype, value.sizes, value.dim_order)
        if array is None:  # scratch, and what a program computes
            array = np.zeros(value.sizes, value.dtype.numpy)
        return laid_out(torch_tensor(array, value.dtype), value.dim_order)


def torch_type(dtype: DType) -> torch.dtype:
    known = getattr(torch, dtype.label, None)
    if not isinstance(known, torch.dtype):
        raise UnknownError
    return known


def torch_tensor(array: Array, dtype: DType) -> torch.Tensor:
    plain = torch.from_numpy(np.array(array, order="C"))
    return plain.view(torch.bfloat16) if dtype is DType.BFLOAT16 else plain


def laid_out(tensor: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """The tensor with this order of dimensions in memory."""
    back = [list(order).index(dim) for dim in range(tensor.dim())]
    return tensor.permute(list(order)).contiguous().permute(back)


def array_of(tensor: torch.Tensor) -> Array:
    plain = tensor.detach().contiguous()
    short = plain.dtype == torch.bfloat16
    array: Array = (plain.view(torch.uint16) if short else plain).numpy()
    return array


def dim_order(tensor: torch.Tensor) -> tuple[int, ...]:
    strides = tensor.stride()
    return tuple(sorted(range(tensor.dim()), key=lambda d: (-strides[d], d)))


# ---- tolerances ----------------------------------------------------------------------


def tolerance(call: Call, outputs: Results) -> tuple[float, float]:
    """rtol and atol for the coarsest dtype of the call; its integers are exact.

    Where PyTorch's sums in a dtype end up further from those in a wider one, that
    distance counts. An error in the size of the result does not come from rounding: the
    function depends on the dtype.
    """
    exact = call.operator.startswith(("cortex_m::", "quantized_decomposed::"))
    if exact or not any(x.is_floating_point() for x in outputs):
        return 0.0, 0.0
    arguments = Arguments(call)
    dtypes = {x.dtype for x in [*_tensors(arguments), *outputs]}
    rtol, atol = max(_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes)
    arguments.given = {k: _widened(v) for k, v in arguments.given.items()}
    try:
        wider = _called(call.operator, arguments)
    except Exception:  # it has no wider dtype
        return rtol, atol
    errors = map(_difference, outputs, wider)
    rtol = max(rtol, 1e-6 if "upsample" in call.operator else 0)  # float32 weights
    return rtol, max([atol, *errors])


def _tensors(arguments: Arguments) -> Iterator[torch.Tensor]:
    for value in arguments.given.values():
        items = value if isinstance(value, list) else [value]
        yield from (item for item in items if isinstance(item, torch.Tensor))


def _widened(value: Any) -> Any:
    if isinstance(value, list):
        return [_widened(item) for item in value]
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value.to(torch.float32 if value.dtype in _SHORT else torch.float64)


def _difference(got: torch.Tensor, wider: torch.Tensor) -> float:
    if not got.is_floating_point() or got.shape != wider.shape or not got.numel():
        return 0.0
    apart = (got.double() - wider.to(got.dtype).double()).abs()
    apart, size = apart[apart.isfinite()], got[got.isfinite()].double().abs()
    if not apart.numel() or not size.numel() or apart.max() > 0.1 * size.max():
        return 0.0
    return float(apart.max())


# ---- what has no reference of its own ------------------------------------------------


def _quantized_add(a: Any, *given: Any) -> torch.Tensor:
    """What the graph means that ExecuTorch's fusion replaces by it."""
    ops = torch.ops.quantized_decomposed
    x = ops.dequantize_per_tensor(a, *given[:4], a.dtype)
    b = given[4]
    y = ops.dequantize_per_tensor(b, *given[5:9], b.dtype)
    total: torch.Tensor = ops.quantize_per_tensor(x + y, *given[9:], a.dtype)
    return total


def _real_weight(weight: Any, scales: Any, zeros: Any) -> torch.Tensor:
    groups = scales.shape[1] if scales.dim() == 2 else 1
    centred = weight.reshape(weight.shape[0], groups, -1).to(scales.dtype)
    if zeros is not None:
        centred = centred - zeros.reshape(-1, groups, 1)
    real: torch.Tensor = (centred * scales.reshape(-1, groups, 1)).reshape(weight.shape)
    return real


def _mixed_linear(
    x: Any, weight: Any, scales: Any, zeros: Any, dtype: Any = None
) -> torch.Tensor:
    product = torch.mm(x, _real_weight(weight, scales, zeros).t())
    return product.to(dtype or x.dtype)


def _undilated(name: str) -> Callable[..., torch.Tensor]:
    """Weights with zeros between the taps: the dialect's Python cannot dilate."""

    def convolution(x: Any, w: Any, bias: Any, *given: Any) -> torch.Tensor:
        stride, padding, dilation, *rest = given
        sides = zip(w.shape[1:3], dilation, strict=True)
        high, wide = ((k - 1) * d + 1 for k, d in sides)
        spread = torch.zeros(w.shape[0], high, wide, w.shape[3], dtype=w.dtype)
        spread[:, :: dilation[0], :: dilation[1]] = w
        reference = getattr(torch.ops.cortex_m, name).default
        out: torch.Tensor = reference(x, spread, bias, stride, padding, [1, 1], *rest)
        return out

    return convolution


def _first(which: str) -> Callable[..., Results]:
    """The first index of the extreme; PyTorch does not promise which one it gives."""

    def extreme(x: torch.Tensor, dim: int | None, keepdim: bool = False) -> Results:
        flat = x.reshape(-1) if dim is None else x
        at = 0 if dim is None else dim
        best = getattr(torch, f"a{which}")(flat, at, True)
        same = torch.where(best.isnan(), flat.isnan(), flat == best)
        index = same.to(torch.int64).cumsum(at).eq(0).sum(at, keepdim=keepdim)
        if dim is None and keepdim:
            index = index.reshape([1] * x.dim())
        return [best if keepdim else best.squeeze(at), index]

    return extreme


def _gru(*given: Any) -> torch.Tensor:
    x, h, w_x, a, w_h, b, b_x, c, b_h = given
    linear = torch.nn.functional.linear
    of_x = linear(x, w_x * a, b_x * c).chunk(3, -1)
    of_h = linear(h, w_h * b, b_h * c).chunk(3, -1)
    reset, update = ((of_x[i] + of_h[i]).sigmoid() for i in (0, 1))
    fresh = (of_x[2] + reset * of_h[2]).tanh()
    new = (1 - update) * fresh + update * h
    return torch.stack([new, new])


def _linear_w8a32(x: Any, w: Any, scale: float, bias: Any, by: float) -> torch.Tensor:
    return torch.nn.functional.linear(x, w.float() * scale, bias.float() * by)


def _rope(x: Any, sin: Any, cos: Any, at: Any, *given: Any) -> torch.Tensor:
    """In PyTorch's terms: the dialect's own Python mixes up heads."""
    limits = (torch.iinfo(x.dtype).min, torch.iinfo(x.dtype).max, x.dtype)
    ops = torch.ops.quantized_decomposed
    real = ops.dequantize_per_tensor(x, *given[:2], *limits)
    heads, pairs = x.shape[2], sin.shape[-1]
    x0, x1 = real.view(x.shape[1], heads, 2, pairs).unbind(2)
    s, c = (a[:, None] if at is None else a[at.long(), None] for a in (sin, cos))
    turned = torch.stack([x0 * c - x1 * s, x0 * s + x1 * c], 2).view(x.shape)
    out: torch.Tensor = ops.quantize_per_tensor(turned, *given[2:], *limits)
    return out


_SPECIAL: dict[str, Callable[..., Any]] = {
    "quantized_decomposed::add.out": _quantized_add,
    "quantized_decomposed::mixed_mm.out": lambda x, *w: torch.mm(x, _real_weight(*w)),
    "quantized_decomposed::mixed_linear.out": _mixed_linear,
    **{
        f"cortex_m::{name}.out": _undilated(name)
        for name in ("quantized_conv2d", "quantized_depthwise_conv2d")
    },
    "aten::max.dim_max": _first("max"),
    "aten::min.dim_min": _first("min"),
    "aten::argmax.out": lambda *given: _first("max")(*given)[1],
    "aten::argmin.out": lambda *given: _first("min")(*given)[1],
    "cadence::quantized_w8a32_gru.out": _gru,
    "cadence::quantized_w8a32_linear.out": _linear_w8a32,
    "cadence::quantized_rope_rotate_stacked_halves.out": _rope,
    **{
        f"cadence::idma_{what}.out": lambda x, *_: x.clone()
        for what in ("load", "store", "copy", "wait")
    },
}
