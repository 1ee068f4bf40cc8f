"""weights: what kernels would make of constants in each run is made once, here.

A depthwise convolution of one channel, which all filters see, is a convolution whose
weights lie the other way round: they are turned. Where no tap lies beside the image,
what is added to each input moves into the bias: sums of weights times that number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ember.files.tensors import DType
from ember.plan.passes.edit import Draft
from ember.plan.passes.execute import Computer
from ember.program import KernelCall, Method, types
from ember.program.additions import Additions

_CONV = types.Operator("cortex_m::quantized_conv2d", "out")
_DEPTHWISE = types.Operator("cortex_m::quantized_depthwise_conv2d", "out")
_MULTIPLIER = 6  # argument of a depthwise convolution that the other has not
_W, _BIAS, _PADDING, _OFFSET = 1, 2, 4, 6  # arguments of a convolution
_RANK = 4
_MOST_SUM = 1 << 29  # sums of products and bias stay far from the end of int32


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        if not {_CONV, _DEPTHWISE} & {*method.operators}:
            continue
        changing = _Changing(method, after.program.constants)
        changed = changing.method_after()
        if changing.added:
            constants = (*after.program.constants, *changing.added)
            after = replace(after, program=replace(after.program, constants=constants))
            numbers = range(len(method.instructions))
            after = after.with_method(index, changed, numbers)
    return [] if after is draft else [after]


class _Changing(Additions):
    def method_after(self) -> Method:
        chains = tuple(
            replace(chain, instructions=tuple(map(self._changed, chain.instructions)))
            for chain in self.method.chains
        )
        values = (*self.method.values, *self.values)
        return replace(
            self.method, values=values, chains=chains, operators=self.operators
        )

    def _changed(self, call: types.Instruction) -> types.Instruction:
        if isinstance(call, KernelCall) and self.operators[call.op_index] == _DEPTHWISE:
            call = self._turned(call)
        if isinstance(call, KernelCall) and self.operators[call.op_index] == _CONV:
            call = self._without_offset(call)
        return call

    # ---- one channel -------------------------------------------------------------

    def _turned(self, call: KernelCall) -> KernelCall:
        weights = self.constant(call.args[_W], DType.INT8)
        x = self.method.values[call.args[0]]
        gray = isinstance(x, types.Tensor) and len(x.sizes) == _RANK and x.sizes[1] == 1
        if (
            weights is None
            or weights.ndim != _RANK
            or not gray
            or weights.shape[-1] < 2
        ):
            return call
        turned = np.ascontiguousarray(weights.transpose(3, 1, 2, 0))
        args = list(call.args)
        args[_W] = self.add_constant(turned)
        del args[_MULTIPLIER]
        return KernelCall(self.add_operator(_CONV), tuple(args))

    # ---- offsets -----------------------------------------------------------------

    def _without_offset(self, call: KernelCall) -> KernelCall:
        """The call with 0 as what is added to its input, if it can be."""
        weights = self.constant(call.args[_W], DType.INT8)
        bias = self.constant(call.args[_BIAS], DType.INT32)
        offset = self.integer(call.args[_OFFSET])
        beside = self.integers(call.args[_PADDING])
        if weights is None or bias is None or offset is None:
            return call
        if beside is None or any(beside):
            return call
        filters, most = weights.shape[0], weights[0].size * (1 << 15)
        sums = weights.reshape(filters, -1).sum(1, dtype=np.int64) * offset + bias
        if offset == 0 or bias.size != filters or weights.size == 0:
            return call
        if int(np.abs(sums).max()) + most >= _MOST_SUM:
            return call
        args = list(call.args)
        args[_BIAS] = self.add_constant(sums.astype(np.int32))
        args[_OFFSET] = self.add(types.Int(0))
        return replace(call, args=tuple(args))
