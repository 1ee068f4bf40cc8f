"""A program and its chosen kernels become the program whose convolutions have weights
in another form, as operators of Ember's own read them: which forms there are is in
`quads` and `winograd`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ember.files.tensors import DType
from ember.program import KernelCall, Method, Program, types
from ember.program.additions import Additions
from ember.select.resolve import MethodNeeds

_CONV = "cortex_m::quantized_conv2d.out"
_PLAIN = "quantized_conv2d_dsp"  # the kernel whose calls get another
_W, _STRIDE, _DILATION, _SHIFTS, _OUT = 1, 3, 5, 9, -1  # arguments of a convolution

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


def packed(program: Program, needs: Sequence[MethodNeeds], form: Form) -> Program:
    """The same program where no convolution can have the form; else weights that
    nothing reads any more are still there."""
    packing = _Packing(program, form)
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
    added: list[bytes] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)  # by those of plain weights

    def method_after(self, method: Method, needs: MethodNeeds) -> Method:
        chosen = {call.instruction for call in needs.calls if call.kernel == _PLAIN}
        if len(method.chains) != 1:
            return method
        weights: dict[int, types.Tensor] = {}  # by call
        for index, name, call in method.kernel_calls():
            plain = index in chosen and name == _CONV
            tensor = self._packed(method, call) if plain else None
            if tensor is not None:
                weights[index] = tensor
        if not weights:
            return method
        return _with_weights(method, weights, self.form.operator)

    def _packed(self, method: Method, call: KernelCall) -> types.Tensor | None:
        """The packed weights of a call; None where they cannot be."""
        look = Additions(method, self.program.constants)
        tensor = method.values[call.args[_W]]
        shifts = look.constant(call.args[_SHIFTS], DType.INT32)
        layer = _layer(method, look, call)
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


def _layer(method: Method, look: Additions, call: KernelCall) -> PlainConv | None:
    """None where weights are no constants, or taps are apart."""
    weights = look.constant(call.args[_W], DType.INT8)
    out = method.values[call.args[_OUT]]
    if weights is None or not isinstance(out, types.Tensor) or len(out.sizes) != 4:
        return None
    if set(look.integers(call.args[_DILATION]) or (0,)) != {1}:
        return None
    stride = look.integers(call.args[_STRIDE]) or ()
    return PlainConv(weights, stride, out.sizes[2], out.sizes[3])


def _with_weights(
    method: Method, weights: Mapping[int, types.Tensor], operator: types.Operator
) -> Method:
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
        operators=(*method.operators, operator),
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
