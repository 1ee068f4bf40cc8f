"""Values and calls, one by one, become a method of a program."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

from ember.files.tensors import DType
from ember.program import (
    Allocation,
    Chain,
    Delegate,
    ExtraInfo,
    Instruction,
    Int,
    KernelCall,
    Method,
    Operator,
    Program,
    Tensor,
    Value,
)

F32, S32, S64, B1 = DType.FLOAT32, DType.INT32, DType.INT64, DType.BOOL


def floats(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


class Maker:
    """A method under construction; values are numbered in the order they are made."""

    def __init__(self, name: str = "forward") -> None:
        self.name = name
        self.values: list[Value] = []
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.instructions: list[Instruction] = []
        self.operators: list[Operator] = []
        self.delegates: list[Delegate] = []
        self.planned = [0]

    def value(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def integer(self, number: int) -> int:
        return self.value(Int(number))

    def tensor(
        self,
        *sizes: int,
        dtype: DType = F32,
        memory: int | None = 1,
        dynamic: bool = False,
        data: int = 0,
        extra: ExtraInfo | None = None,
        order: Sequence[int] | None = None,
    ) -> int:
        """A tensor in planned memory of its own, or in none."""
        tensor = Tensor(
            dtype,
            tuple(sizes),
            tuple(range(len(sizes)) if order is None else order),
            data_index=data,
            dynamism="bounded" if dynamic else "static",
            extra=extra,
        )
        allocation = None
        if memory is not None:
            while len(self.planned) <= memory:
                self.planned.append(0)
            allocation = Allocation(memory, self.planned[memory])
            self.planned[memory] += -(-tensor.nbytes // 16) * 16
        return self.value(replace(tensor, allocation=allocation))

    def input(self, *sizes: int, **options: object) -> int:
        self.inputs.append(self.tensor(*sizes, **options))  # type: ignore[arg-type]
        return self.inputs[-1]

    def give(self, *values: int) -> None:
        self.outputs += values

    def operator(self, name: str) -> int:
        base, _, overload = name.partition(".")
        operator = Operator(base, overload)
        if operator not in self.operators:
            self.operators.append(operator)
        return self.operators.index(operator)

    def call(self, name: str, *args: int) -> int:
        """A kernel call whose last argument is also its return value."""
        return self.exact_call(name, *args, args[-1])

    def exact_call(self, name: str, *args: int) -> int:
        full = name if "::" in name else f"toy::{name}"
        self.instructions.append(KernelCall(self.operator(full), args))
        return len(self.instructions) - 1

    def add(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def delegate(self, name: str, data: bytes, **options: object) -> int:
        self.delegates.append(Delegate(name, data, **options))  # type: ignore[arg-type]
        return len(self.delegates) - 1

    def method(self) -> Method:
        return Method(
            name=self.name,
            values=tuple(self.values),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            chains=(Chain(tuple(self.instructions), (), ()),),
            operators=tuple(self.operators),
            delegates=tuple(self.delegates),
            planned_sizes=tuple(self.planned),
            planned_devices=(),
            containers=None,
        )

    def program(self, **options: object) -> Program:
        return Program(methods=(self.method(),), **options)  # type: ignore[arg-type]
