"""A program and its chosen kernels become the program whose convolutions have weights
packed for cores with DSP instructions: kernels/cortex_m/packed_s8.h.

Two filters share what is loaded: as int16, two bytes are 256 times the weight of the
second, that of the first and 128. Packed weights are as long as plain ones, except
where rows of taps end in zeros.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ember.files.tensors import DType
from ember.program import KernelCall, Method, Program, types
from ember.program.additions import Additions
from ember.select.resolve import MethodNeeds

OPERATOR = types.Operator("ember::packed_conv2d", "out")
_CONV = "cortex_m::quantized_conv2d.out"
# The kernel whose calls are packed, and the one that they get then.
_PLAIN, _PACKED = "quantized_conv2d_dsp", "packed_conv2d_s8_dsp"
_W, _DILATION, _SHIFTS = 1, 5, 9  # arguments of a convolution
_FOUR = 4  # filters, and elements
_LEAST_SHIFT = -3  # EMBER_SHIFT_POWER_DSP
_MOST_ROW = 4 / 3  # as long as a row may be beside that of the taps

_Weights = npt.NDArray[np.int8]


def usable(allowed: Mapping[str, Sequence[str]], pins: Container[str]) -> set[str]:
    """The kernels whose calls may be packed: the one that takes packed weights is
    allowed, and the operator of plain ones is not pinned."""
    free = _PACKED in allowed.get(OPERATOR.full_name, ()) and _CONV not in pins
    return {_PLAIN} if free else set()


def packed(program: Program, needs: Sequence[MethodNeeds]) -> Program:
    """The same program where no convolution can be packed; else weights that nothing
    reads any more are still there."""
    packing = _Packing(program)
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
    added: list[bytes] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)  # by those of plain weights

    def method_after(self, method: Method, needs: MethodNeeds) -> Method:
        chosen = {call.instruction for call in needs.calls if call.kernel == _PLAIN}
        if len(method.chains) != 1:
            return method
        weights: dict[int, types.Tensor] = {}  # by call
        for index, _, call in method.kernel_calls():
            tensor = self._packed(method, call) if index in chosen else None
            if tensor is not None:
                weights[index] = tensor
        return _with_weights(method, weights) if weights else method

    def _packed(self, method: Method, call: KernelCall) -> types.Tensor | None:
        """The packed weights of a call; None where they cannot be."""
        look = Additions(method, self.program.constants)
        tensor = method.values[call.args[_W]]
        weights = look.constant(call.args[_W], DType.INT8)
        shifts = look.constant(call.args[_SHIFTS], DType.INT32)
        dilation = look.integers(call.args[_DILATION])
        if not isinstance(tensor, types.Tensor) or weights is None or shifts is None:
            return None
        if set(dilation or (0,)) != {1} or (shifts > _LEAST_SHIFT).any():
            return None
        elements = packed_weights(weights)
        if elements is None:
            return None
        if tensor.data_index not in self.places:
            self.added.append(elements.tobytes())
            place = len(self.program.constants) + len(self.added) - 1
            self.places[tensor.data_index] = place
        place = self.places[tensor.data_index]
        order = tuple(range(elements.ndim))
        return types.Tensor(DType.INT8, elements.shape, order, data_index=place)


def _with_weights(method: Method, weights: Mapping[int, types.Tensor]) -> Method:
    """The method whose calls have these weights, each in the place of the plain ones
    unless others read them, too."""
    others = _read_plain(method, weights)
    values: list[types.Value] = list(method.values)
    instructions = list(method.chains[0].instructions)
    for index, tensor in weights.items():
        call = instructions[index]
        assert isinstance(call, KernelCall)
        place = call.args[_W]
        if place in others:
            place = len(values)
            values.append(tensor)
        values[place] = tensor
        args = (*call.args[:_W], place, *call.args[_W + 1 :])
        instructions[index] = KernelCall(len(method.operators), args)
    return replace(
        method,
        values=tuple(values),
        chains=(replace(method.chains[0], instructions=tuple(instructions)),),
        operators=(*method.operators, OPERATOR),
    )


def _read_plain(method: Method, packed: Container[int]) -> frozenset[int]:
    """What is read otherwise than as weights of the `packed` calls."""
    plain = [
        replace(call, args=(*call.args[:_W], *call.args[_W + 1 :]))
        if index in packed and isinstance(call, KernelCall)
        else call
        for index, call in enumerate(method.chains[0].instructions)
    ]
    chains = (replace(method.chains[0], instructions=tuple(plain)),)
    return replace(method, chains=chains).used_values()


# ---- weights -------------------------------------------------------------------------


def packed_weights(weights: _Weights) -> _Weights | None:
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
