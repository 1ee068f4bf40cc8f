"""batch_norm: statistics that are given become weights of the convolution before.

y = (conv(x) - mean) * gamma / sqrt(var + eps) + beta is a convolution with its filters
times gamma / sqrt(var + eps). That is computed in double, and each weight rounded once
to float32: other last bits than the two calls give (execute.ROUNDING).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ember.files.tensors import DType
from ember.kernels.schemas import NamedCall
from ember.plan import effects, lifetimes
from ember.plan.lifetimes import Storage
from ember.plan.passes.execute import Computer
from ember.program import Method, types
from ember.program.edit import Additions, Draft, with_values, without
from ember.program.types import ALIGN

_CONV = "aten::convolution.out"
_NORM = "aten::_native_batch_norm_legit_no_training.out"


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        names = {_CONV, _NORM} & {*method.operator_names}
        ours = all(here.known.operators[name].is_ours for name in names)
        jumps = any(isinstance(n, types.JumpFalseCall) for n in method.instructions)
        if len(names) < 2 or not ours or jumps:
            continue
        folding = _Folding(method, after.program.constants)
        gone = folding.fold(here, keep)
        if gone:
            constants = (*after.program.constants, *folding.added)
            after = replace(after, program=replace(after.program, constants=constants))
            after = after.with_method(index, *without(folding.method_after(), gone))
    return [] if after is draft else [after]


@dataclass(frozen=True)
class _Scale:
    """Of each channel."""

    by: np.ndarray
    add: np.ndarray


class _Folding(Additions):
    def fold(self, here: Computer, keep: frozenset[int]) -> frozenset[int]:
        """The normalisations that are not needed any more."""
        lives = lifetimes.of(self.method, here.known, check=False)
        storages = {
            value: storage
            for storage in lives.storages
            if not storage.is_state and storage.memory_id not in keep
            for value in storage.values
        }
        self.sizes = list(self.method.planned_sizes)
        self.moved: dict[int, types.Value] = {}
        self.calls = {
            n: here.known.named(self.method, call)
            for n, _, call in self.method.kernel_calls()
        }
        makers: dict[int, int] = {}  # by value: the only convolution that writes it
        names = Counter((*self.method.inputs, *self.method.outputs))
        first: dict[int, int] = {}  # instruction that names a value
        for number, effect in enumerate(effects.of(self.method, here.known)):
            moved = [value for pair in effect.handles for value in pair]
            names.update((*effect.touched, *moved))
            for value in (*effect.touched, *moved):
                first.setdefault(value, number)
        gone = set()
        for number, call in list(self.calls.items()):
            if call.operator == _CONV:
                makers[call["out"]] = number
            if call.operator != _NORM or call["input"] not in makers:
                continue
            if names[call["input"]] != 2:  # written, and read here
                continue
            maker, out = makers[call["input"]], call["out0"]
            first_use = first[out] == number and out not in self.method.inputs
            single = names[call["out1"]] == names[call["out2"]] == 1
            fits = first_use and single and out in storages
            if fits and self._fold(maker, call):
                self._move(storages[out])
                gone.add(number)
                makers[out] = maker
        return frozenset(gone)

    def _move(self, storage: Storage) -> None:
        """Behind all others: it is written earlier now."""
        first = -(-self.sizes[storage.memory_id] // ALIGN) * ALIGN
        for value, start in storage.values.items():
            place = types.Allocation(storage.memory_id, first + start)
            tensor = self.method.values[value]
            assert isinstance(tensor, types.Tensor)
            self.moved[value] = replace(tensor, allocation=place)
        self.sizes[storage.memory_id] = first + storage.size

    def method_after(self) -> Method:
        (chain,) = self.method.chains
        instructions = (
            self.calls[number].call if number in self.calls else instruction
            for number, instruction in enumerate(chain.instructions)
        )
        method = with_values(self.method, self.moved)
        return replace(
            method,
            values=(*method.values, *self.values),
            planned_sizes=tuple(self.sizes),
            chains=(replace(chain, instructions=tuple(instructions)),),
        )

    def _fold(self, maker: int, norm: NamedCall) -> bool:
        """Whether a convolution now gives what the normalisation would."""
        conv = self.calls[maker]
        scale, weights = self._scale(norm), self.value(conv["weight"])
        given, wanted = norm.value("input"), norm.value("out0")
        if scale is None or not isinstance(weights, types.Tensor):
            return False
        if not isinstance(given, types.Tensor) or not isinstance(wanted, types.Tensor):
            return False
        alike = (given.dtype, given.sizes, given.dim_order) == (
            wanted.dtype,
            wanted.sizes,
            wanted.dim_order,
        )
        elements = self.elements(conv["weight"], DType.FLOAT32)
        bias = self._vector(conv["bias"], len(scale.by), 0.0)
        if elements is None or bias is None or not alike or given.is_dynamic:
            return False
        scaled = self._scaled(conv, weights, elements, scale.by)
        if scaled is None:
            return False
        added = (bias * scale.by + scale.add).astype(np.float32)
        if not (np.isfinite(scaled).all() and np.isfinite(added).all()):
            return False
        folded = conv.replaced(
            result=norm["out0"],
            weight=self.add_constant(scaled, like=weights),
            bias=self.add_constant(added),
            out=norm["out0"],
        )
        self.calls[maker] = replace(conv, call=folded)
        return True

    def _scale(self, norm: NamedCall) -> _Scale | None:
        mean = self.elements(norm["running_mean"], DType.FLOAT32)
        eps = norm.value("eps")
        if mean is None or not isinstance(eps, types.Double):
            return None
        count = len(mean)
        gamma = self._vector(norm["weight"], count, 1.0)
        beta = self._vector(norm["bias"], count, 0.0)
        var = self._vector(norm["running_var"], count, None)
        if gamma is None or beta is None or var is None or (var + eps.value <= 0).any():
            return None
        by = gamma / np.sqrt(var + eps.value)
        return _Scale(by, beta - mean * by)

    def _vector(
        self, value: int, count: int, otherwise: float | None
    ) -> np.ndarray | None:
        """A constant of a number for each channel, in double."""
        if otherwise is not None and isinstance(self.value(value), types.Null):
            return np.full(count, otherwise)
        elements = self.elements(value, DType.FLOAT32)
        fits = elements is not None and len(elements) == count
        return elements.astype(np.float64) if fits and elements is not None else None

    def _scaled(
        self,
        conv: NamedCall,
        weights: types.Tensor,
        elements: np.ndarray,
        by: np.ndarray,
    ) -> np.ndarray | None:
        """Filters times a number each, as they are in memory. Those of a transposed
        convolution are (in, out / groups, ..)."""
        turned, groups = conv.value("transposed"), conv.value("groups")
        if not isinstance(turned, types.Bool) or not isinstance(groups, types.Int):
            return None
        channels, each, *window = weights.sizes
        if turned.value:
            if groups.value < 1 or each * groups.value != len(by):
                return None
            factors = by.reshape(groups.value, each)
            factors = factors.repeat(channels // groups.value, axis=0)
        else:
            factors = by[:, None]
        if len(factors) != channels:
            return None
        order = weights.dim_order
        logical = elements.reshape([weights.sizes[dim] for dim in order])
        shape = (*factors.shape, *[1] * len(window))
        lying = factors.reshape(shape).transpose(order)
        scaled: np.ndarray = logical.astype(np.float64) * lying
        return scaled.astype(np.float32)
