"""A method becomes one with more values, constants among them, and more operators.

Indices of what it had stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ember.files.tensors import DType
from ember.program import types
from ember.program.types import Method

_DTYPES = {DType.INT8: np.int8, DType.INT32: np.int32}


@dataclass
class Additions:
    """To a method of a program with these constants."""

    method: Method
    constants: Sequence[bytes | memoryview]
    added: list[bytes] = field(default_factory=list)  # constants
    values: list[types.Value] = field(default_factory=list)
    operators: tuple[types.Operator, ...] = ()

    def __post_init__(self) -> None:
        self.operators = self.method.operators

    def value(self, index: int) -> types.Value:
        before = len(self.method.values)
        return (
            self.values[index - before]
            if index >= before
            else self.method.values[index]
        )

    def add(self, value: types.Value) -> int:
        self.values.append(value)
        return len(self.method.values) + len(self.values) - 1

    def add_ints(self, numbers: Sequence[int]) -> int:
        items = tuple(self.add(types.Int(number)) for number in numbers)
        return self.add(types.IntList(items))

    def add_constant(self, array: np.ndarray) -> int:
        """A tensor of int8 or int32."""
        self.added.append(array.tobytes())
        dtype = DType.INT8 if array.itemsize == 1 else DType.INT32
        number = len(self.constants) + len(self.added) - 1
        order = tuple(range(array.ndim))
        return self.add(types.Tensor(dtype, array.shape, order, data_index=number))

    def add_operator(self, operator: types.Operator) -> int:
        if operator not in self.operators:
            self.operators = (*self.operators, operator)
        return self.operators.index(operator)

    def integer(self, index: int) -> int | None:
        value = self.value(index)
        return value.value if isinstance(value, types.Int) else None

    def integers(self, index: int) -> tuple[int, ...] | None:
        value = self.value(index)
        return self.method.int_list(value) if isinstance(value, types.IntList) else None

    def constant(self, index: int, dtype: DType) -> np.ndarray | None:
        """The elements of a constant of the program; None where it is none."""
        tensor = self.value(index)
        if not isinstance(tensor, types.Tensor) or tensor.dtype != dtype:
            return None
        plain = tensor.dim_order == tuple(range(len(tensor.sizes)))
        if tensor.data_index == 0 or tensor.allocation is not None or not plain:
            return None
        if tensor.is_external or tensor.is_dynamic:
            return None
        data = [*self.constants, *self.added][tensor.data_index]
        elements = np.frombuffer(data, _DTYPES[dtype], tensor.numel)
        return elements.reshape(tensor.sizes)
