"""What nodes read becomes what PyTorch makes of it: a reference of other people's.

Imports torch, which only `ember debug --against pytorch` needs.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ember.cases import Case, inputs
from ember.cases.batch import BEFORE, NodeValues
from ember.errors import SdkError
from ember.files import tensors
from ember.files.tensors import Array, DType
from ember.program import Method, types
from ember.run.lockstep import Watched

# What registers the operators of ExecuTorch's flows with PyTorch.
_REGISTER = (
    "torch.ao.quantization.fx._decomposed",
    "executorch.exir.passes._quant_patterns_and_replacements",
    "executorch.exir.passes.dim_order_ops_registry",
    "executorch.backends.cortex_m.passes.cortex_m_pass_manager",
    "executorch.backends.cadence.aot.ops_registrations",
    "executorch.backends.cadence.aot.ref_implementations",
)


class _UnknownError(Exception):
    """PyTorch cannot say what this node gives."""


def need() -> None:
    """SdkError where PyTorch is missing."""
    try:
        importlib.import_module("torch")
    except ImportError:
        raise SdkError(
            "--against pytorch needs PyTorch, which is not installed",
            hint="pip install 'ember[export]'",
        ) from None
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # what they miss for graphics cards
    for name in _REGISTER:
        with contextlib.suppress(Exception):  # of a flow that is not installed
            importlib.import_module(name)
    logging.disable(disabled)


@dataclass
class PyTorch:
    """The reference for calls of operators that PyTorch has."""

    case: Case
    judged: set[tuple[str, int]] = field(default_factory=set)  # method, instruction
    unknown: set[tuple[str, int]] = field(default_factory=set)

    @property
    def judges(self) -> tuple[int, int]:
        """How many calls it judged, and of how many."""
        return len(self.judged), len(self.judged | self.unknown)

    def answered(
        self,
        nodes: Sequence[NodeValues],
        method_of: Callable[[int], tuple[Method, Watched]],
    ) -> Iterator[NodeValues]:
        """The nodes, with what PyTorch gives in place of their results; unchanged
        where it does not know them. `method_of` a run: its method, what is watched."""
        read: dict[int, inputs.Value] = {}
        for node in nodes:
            method, watched = method_of(node.run)
            if node.inside is not None:
                yield node
            elif node.when == BEFORE:
                indices = watched.before(node.instruction)
                read = dict(zip(indices, node.values, strict=True))
                yield node
            else:
                yield self._result(node, method, watched, read)
                read = {}

    def _result(
        self,
        node: NodeValues,
        method: Method,
        watched: Watched,
        read: Mapping[int, inputs.Value],
    ) -> NodeValues:
        called = method.instructions[node.instruction]
        if not isinstance(called, types.KernelCall):
            return node
        try:
            operators = _operators(method.operator_names[called.op_index])
            output = _Call(self.case, method, read).results(operators, called.args)
        except _UnknownError:
            self.unknown.add((method.name, node.instruction))
            return node
        self.judged.add((method.name, node.instruction))
        pairs = zip(watched.results[node.instruction], node.values, strict=True)
        return replace(node, values=tuple(output.get(at, old) for at, old in pairs))


def _operators(name: str) -> list[Any]:
    """Of "aten::add.out": torch.ops.aten.add.out, and what only returns its result, for
    flows whose `out` has no code in Python."""
    import torch

    namespace, _, rest = name.partition("::")
    word, _, overload = rest.partition(".")
    known = []
    for variant in (overload or "default", "default"):
        try:
            packet = getattr(getattr(torch.ops, namespace), word)
            known.append(getattr(packet, variant))
        except (AttributeError, RuntimeError):
            continue
    if any(torch.Tag.nondeterministic_seeded in operator.tags for operator in known):
        raise _UnknownError
    return known


@dataclass(frozen=True)
class _Call:
    """One execution of an operator."""

    case: Case
    method: Method
    read: Mapping[int, inputs.Value]

    def results(
        self, operators: Sequence[Any], args: Sequence[int]
    ) -> dict[int, inputs.Value]:
        """The tensors that it writes, by value index, by the first of the operators
        that computes here."""
        for operator in operators:
            with contextlib.suppress(_UnknownError):
                return self._results(operator, args)
        raise _UnknownError

    def _results(self, operator: Any, args: Sequence[int]) -> dict[int, inputs.Value]:
        import torch

        arguments = operator._schema.arguments
        returned = 1  # what a program's call gives, behind its arguments
        if not any(argument.is_out for argument in arguments):
            returned += len(operator._schema.returns)
        if len(args) != len(arguments) + returned:  # of another version
            raise _UnknownError
        given = {
            argument.name: self._empty(index)
            if argument.is_out or argument.name.endswith("scratch")
            else self._value(index, str(argument.type))
            for argument, index in zip(arguments, args, strict=False)
        }
        named = [argument.name for argument in arguments if argument.kwarg_only]
        placed = [value for name, value in given.items() if name not in named]
        try:
            with torch.no_grad():
                output = operator(*placed, **{name: given[name] for name in named})
        except Exception:  # what it refuses, it does not judge
            raise _UnknownError from None
        outs = self._outs(args, len(operator._schema.returns))
        tensors_made = output if isinstance(output, list | tuple) else [output]
        pairs = zip(outs, tensors_made, strict=True)
        return {index: self._stored(index, out) for index, out in pairs}

    def _outs(self, args: Sequence[int], count: int) -> Sequence[int]:
        """The tensors of a call that its results go to: behind them stands what it
        returns, one of them or their list."""
        return args[-count - 1 : -1]

    def _empty(self, index: int) -> Any:
        """PyTorch makes it as large as it needs."""
        import torch

        declared = self.method.values[index]
        if not isinstance(declared, types.Tensor):
            raise _UnknownError
        return torch.empty(0, dtype=_torch_type(declared.dtype))

    def _value(self, index: int, kind: str) -> Any:
        """What PyTorch takes for a value; `kind` is the type in the schema."""
        declared = self.method.values[index]
        if isinstance(declared, types.Int) and "ScalarType" in kind:
            return _torch_type(DType(declared.value))
        match declared:
            case types.Tensor():
                return self._tensor(index, declared)
            case types.Int() | types.Bool() | types.Double() | types.String():
                return self._constant(index, declared.value)
            case types.IntList() | types.TensorList() | types.OptionalTensorList():
                items = declared.items
                return [None if at < 0 else self._value(at, "") for at in items]
            case types.DoubleList() | types.BoolList():
                return list(declared.items)
        return None

    def _constant(self, index: int, content: Any) -> Any:
        """Of the program; what was computed is not captured."""
        if index in _computed(self.method):
            raise _UnknownError
        return content

    def _tensor(self, index: int, declared: types.Tensor) -> Any:
        value = self.read.get(index)
        if isinstance(value, inputs.TensorValue):
            return _torch_tensor(value.array(declared.dim_order), declared.dtype)
        data = self.case.program.data_of(declared) if declared.is_constant else None
        if data is None:
            raise _UnknownError
        content = tensors.from_bytes(
            bytes(data), declared.dtype, declared.sizes, declared.dim_order
        )
        return _torch_tensor(content, declared.dtype)

    def _stored(self, index: int, output: Any) -> inputs.Value:
        """As the board stores it."""
        import torch

        declared = self.method.values[index]
        if not isinstance(declared, types.Tensor) or not isinstance(
            output, torch.Tensor
        ):
            raise _UnknownError
        if output.dim() != len(declared.sizes):
            raise _UnknownError
        plain = output.detach().contiguous()
        if declared.dtype is DType.BFLOAT16:
            plain = plain.view(torch.int16)
        data = tensors.to_bytes(plain.numpy(), declared.dtype, declared.dim_order)
        return inputs.TensorValue(declared.dtype, tuple(output.shape), data)


@functools.lru_cache(maxsize=4)
def _computed(method: Method) -> frozenset[int]:
    """Values that an instruction moves, or gives as its result."""
    return frozenset(
        call.move_to if isinstance(call, types.MoveCall) else call.result
        for call in method.instructions
        if isinstance(call, types.MoveCall | types.KernelCall)
    )


def _torch_type(dtype: DType) -> Any:
    import torch

    known = getattr(torch, dtype.label, None)
    if not isinstance(known, torch.dtype):
        raise _UnknownError
    return known


def _torch_tensor(array: Array, dtype: DType) -> Any:
    import torch

    plain = torch.from_numpy(np.array(array, order="C"))
    return plain.view(torch.bfloat16) if dtype is DType.BFLOAT16 else plain
