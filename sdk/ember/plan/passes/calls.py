"""scratch, unread, weights: calls get less to do, and less memory to do it in.

scratch: memory that an exporter plans for the kernels of others is not planned.
Operators of the `cortex_m` dialect have tensors named `scratch` for the kernels of
CMSIS-NN. Ember's kernels read no such argument and ask for scratch themselves, so it
becomes a tensor without elements.

unread: results that are never read are neither computed nor planned. A max pool also
says where its largest elements are, in eight bytes each. If no call reads that, its
kernels get None in place of the tensor; a pool of int8 images becomes that of the
cortex_m dialect, for which cores have kernels.

weights: what kernels would compute from constants in each run is computed once, here. A
depthwise convolution of one channel, which all filters see, is a convolution whose
weights are stored the other way round: they are turned. Where no tap is beside the
image, what is added to each input moves into the bias: sums of weights times that
number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.kernels.schemas import NamedCall
from ember.plan import effects
from ember.plan.passes.execute import Computer
from ember.program import KernelCall, Method, types
from ember.program.edit import Additions, Draft, with_values


def scratch(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        emptied = {
            value: _emptied(method, value)
            for value in _unused_scratch(method, here)
            if _is_planned(method, value, keep)
        }
        if emptied:
            numbers = range(len(method.instructions))
            after = after.with_method(index, with_values(method, emptied), numbers)
    return [] if after is draft else [after]


def _unused_scratch(method: Method, here: Computer) -> set[int]:
    """The scratch arguments of Ember's kernels that no other call touches."""
    touching = Counter(
        value for effect in effects.of(method, here.known) for value in effect.touched
    )
    return {
        value
        for _, name, call in method.kernel_calls()
        if here.known.operators[name].is_ours
        for value in here.known.named(method, call).scratch
        if touching[value] == 1 and value not in (*method.inputs, *method.outputs)
    }


def _is_planned(method: Method, value: int, keep: frozenset[int]) -> bool:
    tensor = method.values[value]
    return (
        isinstance(tensor, types.Tensor)
        and tensor.allocation is not None
        and tensor.allocation.memory_id not in keep
        and tensor.nbytes > 0
        and not tensor.is_dynamic
    )


def _emptied(method: Method, value: int) -> types.Tensor:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor)
    return replace(tensor, sizes=(0,), dim_order=(0,))


# ---- unread --------------------------------------------------------------------------


_POOL = "aten::max_pool2d_with_indices.out"
_POOLS = (
    _POOL,
    "aten::max_pool3d_with_indices.out",
    "aten::adaptive_max_pool2d.out",
    "aten::adaptive_max_pool3d.out",
)
_POOL_S8 = types.Operator("cortex_m::quantized_max_pool2d", "out")
_RANK = 4


def unread(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        calls = {
            number: here.known.named(method, call)
            for number, name, call in method.kernel_calls()
            if name in _POOLS and here.known.operators[name].is_ours
        }
        if not calls:
            continue
        changing = _Pools(method, ())
        changed = changing.method_after(_unread(method, here), calls, here)
        if changing.values:
            after = after.with_method(index, changed, range(len(method.instructions)))
    return [] if after is draft else [after]


def _unread(method: Method, here: Computer) -> frozenset[int]:
    """Values that only one call names."""
    named = Counter((*method.inputs, *method.outputs))
    for effect in effects.of(method, here.known):
        named.update(effect.touched)
        named.update(value for pair in effect.handles for value in pair)
    return frozenset(value for value, count in named.items() if count == 1)


class _Pools(Additions):
    def method_after(
        self, unread: frozenset[int], calls: dict[int, NamedCall], here: Computer
    ) -> Method:
        (chain,) = self.method.chains
        instructions = list(chain.instructions)
        for number, call in calls.items():
            if call["indices"] in unread:
                instructions[number] = self._changed(call, here)
        return replace(
            self.method,
            values=(*self.method.values, *self.values),
            chains=(replace(chain, instructions=tuple(instructions)),),
            operators=self.operators,
        )

    def _changed(self, call: NamedCall, here: Computer) -> KernelCall:
        if call.operator != _POOL or not self._is_of_bytes(call):
            none = self.add(types.Null())
            return call.replaced(result=call["out"], indices=none)
        zero, least, most = (self.add(types.Int(n)) for n in (0, -128, 127))
        stride = "stride" if self.integers(call["stride"]) else "kernel_size"
        arguments = {
            **call.arguments,
            "input": call["self"],
            "stride": call[stride],
            "input_zero_point": zero,
            "output_zero_point": zero,
            "activation_min": least,
            "activation_max": most,
        }
        pool = here.known.operators[_POOL_S8.full_name]
        args = pool.ordered(arguments, call["out"])
        return KernelCall(self.add_operator(_POOL_S8), args)

    def _is_of_bytes(self, call: NamedCall) -> bool:
        image = call.value("self")
        return (
            isinstance(image, types.Tensor)
            and image.dtype is DType.INT8
            and len(image.sizes) == _RANK
            and bool(self.integers(call["padding"]))
            and set(self.integers(call["dilation"]) or ()) == {1}
        )


# ---- weights -------------------------------------------------------------------------


_CONV = types.Operator("cortex_m::quantized_conv2d", "out")
_DEPTHWISE = types.Operator("cortex_m::quantized_depthwise_conv2d", "out")
_MOST_SUM = 1 << 29  # sums of products and bias stay far from the end of int32


def weights(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        if not {_CONV, _DEPTHWISE} & {*method.operators}:
            continue
        changing = _Convolutions(method, after.program.constants)
        changed = changing.method_after(here.known)
        if changing.added:
            constants = (*after.program.constants, *changing.added)
            after = replace(after, program=replace(after.program, constants=constants))
            numbers = range(len(method.instructions))
            after = after.with_method(index, changed, numbers)
    return [] if after is draft else [after]


class _Convolutions(Additions):
    def method_after(self, known: KernelList) -> Method:
        self.known = known
        chains = tuple(
            replace(chain, instructions=tuple(map(self._changed, chain.instructions)))
            for chain in self.method.chains
        )
        values = (*self.method.values, *self.values)
        return replace(
            self.method, values=values, chains=chains, operators=self.operators
        )

    def _changed(self, call: types.Instruction) -> types.Instruction:
        if not isinstance(call, KernelCall):
            return call
        operator = self.operators[call.op_index]
        if operator not in (_CONV, _DEPTHWISE):
            return call
        named = self.known.named(self.method, call)
        arguments = dict(named.arguments)
        turned = self._turned(arguments) if operator == _DEPTHWISE else {}
        shifted = {}
        if turned or operator == _CONV:
            shifted = self._without_offset({**arguments, **turned})
        if not turned and not shifted:
            return call
        conv = self.known.operators[_CONV.full_name]
        args = conv.ordered({**arguments, **turned, **shifted}, call.result)
        return KernelCall(self.add_operator(_CONV), args)

    # ---- one channel -------------------------------------------------------------

    def _turned(self, arguments: Mapping[str, int]) -> dict[str, int]:
        """Those of the convolution that are others than of the depthwise one; none
        where that stays."""
        weights = self.constant(arguments["weight"], DType.INT8)
        x = self.method.values[arguments["input"]]
        gray = isinstance(x, types.Tensor) and len(x.sizes) == _RANK and x.sizes[1] == 1
        if (
            weights is None
            or weights.ndim != _RANK
            or not gray
            or weights.shape[-1] < 2
        ):
            return {}
        turned = np.ascontiguousarray(weights.transpose(3, 1, 2, 0))
        return {"weight": self.add_constant(turned)}

    # ---- offsets -----------------------------------------------------------------

    def _without_offset(self, arguments: Mapping[str, int]) -> dict[str, int]:
        """Arguments with which 0 is added to the input; none where they stay."""
        weights = self.constant(arguments["weight"], DType.INT8)
        bias = self.constant(arguments["bias"], DType.INT32)
        offset = self.integer(arguments["input_offset"])
        beside = self.integers(arguments["padding"])
        if weights is None or bias is None or offset is None:
            return {}
        if beside is None or any(beside):
            return {}
        filters, most = weights.shape[0], weights[0].size * (1 << 15)
        sums = weights.reshape(filters, -1).sum(1, dtype=np.int64) * offset + bias
        if offset == 0 or bias.size != filters or weights.size == 0:
            return {}
        if int(np.abs(sums).max()) + most >= _MOST_SUM:
            return {}
        return {
            "bias": self.add_constant(sums.astype(np.int32)),
            "input_offset": self.add(types.Int(0)),
        }
