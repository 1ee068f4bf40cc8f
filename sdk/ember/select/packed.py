"""A program and its chosen kernels become the program with packed convolutions.

Operators of Ember read these weights, on cores with DSP instructions:

- Four filters, four elements (kernels/engine/int8/packed_s8.h). Two filters share what
  is loaded: as int16, two bytes are 256 times the weight of the second, that of the
  first and 128. Packed weights are as long as plain ones, except where rows of taps end
  in zeros.
- Filters of 3 x 3 taps transformed for Winograd's convolution
  (kernels/engine/int8/winograd_s8.h). Four outputs take 16 products of each channel
  instead of 36, exactly: weights are 4 G g G^T in int16, 3.6 times as many bytes as
  plain ones.

Convolutions of Cadence's dialect are packed like those of cortex_m. Weights whose
channels come first are turned on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.kernels.schemas import NamedCall
from ember.program import Method, Program, types
from ember.program.edit import Additions
from ember.select import panel_layers
from ember.select.panel_layers import PanelLayer
from ember.select.resolve import MethodNeeds

_CONV = "cortex_m::quantized_conv2d.out"
_PLAIN = "quantized_conv2d_dsp"  # the kernel whose calls get another

Weights = npt.NDArray[np.int8]  # (filters, height, width, channels)


@dataclass(frozen=True)
class PlainConv:
    """What a form may ask of a convolution without dilation."""

    weights: Weights
    stride: tuple[int, ...]
    height: int  # of the output
    width: int


@dataclass(frozen=True)
class Form:
    """What weights become.

    kernel -- that reads them so, as the operator does
    most_shift -- of the shifts that it scales by
    pack -- the weights of a layer; None where the kernel cannot have them, or is slower
    """

    operator: types.Operator
    kernel: str
    dtype: DType
    most_shift: int
    pack: Callable[[PlainConv], npt.NDArray[Any] | None]

    def usable(
        self, allowed: Mapping[str, Sequence[str]], pins: Container[str]
    ) -> bool:
        """Whether the kernel is allowed, and the operator of plain weights is not
        pinned."""
        name = self.operator.full_name
        return self.kernel in allowed.get(name, ()) and _CONV not in pins


def with_packed(
    program: Program, needs: Sequence[MethodNeeds], form: Form, known: KernelList
) -> Program:
    """The same program where no convolution can have the form; else the weights, now
    unused, are still there."""
    packing = _Packing(program, form, known)
    methods = list(program.methods)
    for need in needs:
        methods[need.index] = packing.method_after(methods[need.index], need)
    if not packing.added:
        return program
    constants = (*program.constants, *packing.added)
    return replace(program, methods=tuple(methods), constants=constants)


@dataclass
class _Packing:
    program: Program
    form: Form
    known: KernelList
    added: list[bytes] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)  # by those of plain weights

    def method_after(self, method: Method, needs: MethodNeeds) -> Method:
        chosen = {call.instruction for call in needs.calls if call.kernel == _PLAIN}
        if len(method.chains) != 1:
            return method
        weights: dict[int, types.Tensor] = {}  # by call
        for index, name, call in method.kernel_calls():
            plain = index in chosen and name == _CONV
            named = self.known.named(method, call)
            tensor = self._packed(method, named) if plain else None
            if tensor is not None:
                weights[index] = tensor
        if not weights:
            return method
        return self._with_weights(method, weights)

    def _packed(self, method: Method, call: NamedCall) -> types.Tensor | None:
        """The packed weights of a call; None where they cannot be."""
        look = Additions(method, self.program.constants)
        tensor = call.value("weight")
        shifts = look.constant(call["requantize_shifts"], DType.INT32)
        layer = _layer(look, call)
        if not isinstance(tensor, types.Tensor) or layer is None or shifts is None:
            return None
        if (shifts > self.form.most_shift).any():
            return None
        elements = self.form.pack(layer)
        if elements is None:
            return None
        if tensor.data_index not in self.places:
            self.added.append(elements.tobytes())
            place = len(self.program.constants) + len(self.added) - 1
            self.places[tensor.data_index] = place
        place = self.places[tensor.data_index]
        order = tuple(range(elements.ndim))
        return types.Tensor(self.form.dtype, elements.shape, order, data_index=place)

    def _with_weights(
        self, method: Method, weights: Mapping[int, types.Tensor]
    ) -> Method:
        """The method whose calls have these weights, each in the place of the plain
        ones unless others read them, too."""
        values: list[types.Value] = list(method.values)
        instructions = list(method.chains[0].instructions)
        calls = {index: self.known.named_at(method, index) for index in weights}
        others = _read_plain(method, calls)
        for index, tensor in weights.items():
            place = calls[index]["weight"]
            if place in others:
                place = len(values)
                values.append(tensor)
            values[place] = tensor
            call = calls[index].replaced(weight=place)
            instructions[index] = replace(call, op_index=len(method.operators))
        return replace(
            method,
            values=tuple(values),
            chains=(replace(method.chains[0], instructions=tuple(instructions)),),
            operators=(*method.operators, self.form.operator),
        )


def _layer(look: Additions, call: NamedCall) -> PlainConv | None:
    """None where weights are no constants, or taps are apart."""
    weights, out = look.constant(call["weight"], DType.INT8), call.value("out")
    if weights is None or not isinstance(out, types.Tensor) or len(out.sizes) != 4:
        return None
    if set(look.integers(call["dilation"]) or (0,)) != {1}:
        return None
    stride = look.integers(call["stride"]) or ()
    return PlainConv(weights, stride, out.sizes[2], out.sizes[3])


def _read_plain(method: Method, packed: Mapping[int, NamedCall]) -> frozenset[int]:
    """What is read otherwise than as weights of the `packed` calls."""
    plain = [
        packed[index].without("weight") if index in packed else call
        for index, call in enumerate(method.chains[0].instructions)
    ]
    chains = (replace(method.chains[0], instructions=tuple(plain)),)
    return replace(method, chains=chains).used_values()


# ---- four filters, four elements -----------------------------------------------------


_FOUR = 4  # filters, and elements
_MOST_ROW = 4 / 3  # as long as a row may be beside that of the taps


def _in_quads(layer: PlainConv) -> Weights | None:
    return packed_weights(layer.weights)


def packed_weights(weights: Weights) -> Weights | None:
    """Weights (filters, height, width, channels) as kernels read them packed; None
    where filters or rows do not come in fours."""
    filters, height, width, channels = weights.shape
    row = width * channels
    depth = next(d for d in range(channels, channels + _FOUR) if width * d % _FOUR == 0)
    if filters % _FOUR or not row or width * depth > _MOST_ROW * row:
        return None
    rows = np.zeros((filters, height, width * depth), np.int16)
    rows[:, :, :row] = weights.reshape(filters, height, row)
    pairs = rows[1::2] * 256 + rows[::2] + 128
    # (quad, pair, block, element of two, even or odd) -> (quad, block, even or odd, ..)
    blocks = pairs.astype("<i2").reshape(filters // _FOUR, 2, -1, 2, 2)
    order = np.ascontiguousarray(blocks.transpose(0, 2, 4, 1, 3))
    return order.view(np.int8).reshape(filters, height, width, depth)


QUADS = Form(
    types.Operator("ember::packed_conv2d", "out"),
    "packed_conv2d_s8_dsp",
    DType.INT8,
    -3,  # EMBER_SHIFT_POWER_DSP
    _in_quads,
)


# ---- Winograd's convolution ----------------------------------------------------------


_TWICE_G = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]], np.int32)
_TAPS, _PAIR, _EIGHT = 3, 2, 8
_MOST_CHANNELS = 1024
_LEAST = 4  # outputs of a row, and rows: with fewer, too much of the tiles is nothing


def _in_winograd(layer: PlainConv) -> npt.NDArray[np.int16] | None:
    filters, height, width, channels = layer.weights.shape
    fits = (
        (height, width) == (_TAPS, _TAPS)
        and set(layer.stride) == {1}
        and filters % _PAIR == 0
        and channels % _EIGHT == 0
        and 0 < channels <= _MOST_CHANNELS
        and min(layer.height, layer.width) >= _LEAST
    )
    return transformed(layer.weights) if fits else None


def transformed(weights: Weights) -> npt.NDArray[np.int16]:
    """Weights (filters, 3, 3, channels) as kernels read them: (filters, 4, 4,
    channels) in number, in the order of winograd_s8.h."""
    filters, _, _, channels = weights.shape
    taps = np.einsum("ia,fabc,jb->fijc", _TWICE_G, weights.astype(np.int32), _TWICE_G)
    # (pair, filter, position, four channels, which of two, even or odd)
    parts = taps.reshape(filters // _PAIR, _PAIR, 16, channels // 4, 2, 2)
    order = parts.transpose(0, 2, 3, 5, 1, 4)
    ordered = np.ascontiguousarray(order).astype("<i2")
    return ordered.reshape(filters, 4, 4, channels)


WINOGRAD = Form(
    types.Operator("ember::winograd_conv2d", "out"),
    "winograd_conv2d_s8_dsp",
    DType.INT16,
    -1,
    _in_winograd,
)


# ---- convolutions of Cadence's dialect -----------------------------------------------


CONV = types.Operator("ember::cadence_packed_conv2d", "out")
# The kernels whose calls get packed weights: whether channels are innermost.
KERNELS = {"cadence_conv_nhwc_s8_dsp": True, "cadence_conv_nchw_s8_dsp": False}
_PACKED = {CONV: "cadence_packed_conv2d_dsp"}
_ALIGN = 4  # bytes


def kernels(allowed: Mapping[str, Sequence[str]], pins: Collection[str]) -> set[str]:
    """The kernels whose calls may get packed weights."""
    free = panel_layers.are_free(_PACKED, allowed, pins)
    return set(KERNELS) if free else set()


def layer(
    look: Additions, instruction: int, call: NamedCall, *, last: bool
) -> PanelLayer | None:
    """None for a call whose weights stay: those in groups, with taps apart, of one
    dimension, not of numbers and constants, or that do not come in fours."""
    weights, is_depthwise = panel_layers.weights_of(look, call, last=last)
    numbers = panel_layers.numbers_of(look, call)
    if weights is None or is_depthwise or numbers is None:
        return None
    packed = packed_weights(weights)
    if packed is None or set(look.integers(call["dilation"]) or (0,)) != {1}:
        return None
    return PanelLayer(
        instruction=instruction,
        operator=CONV,
        data=call.tensor("weight").data_index,
        result=call.result,
        arguments={
            **call.arguments,
            **numbers,
            "weight": packed,
            "channel_last": types.Bool(last),
        },
        align=_ALIGN,
    )
