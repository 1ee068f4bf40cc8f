# SPDX-License-Identifier: Apache-2.0
"""Programs of a few instructions, made here, for passes to change."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ember import boards, kernels, program
from ember.boards import Board
from ember.files.tensors import DType
from ember.firmware import runner
from ember.kernels import KernelList
from ember.model import Model
from ember.plan.passes.execute import Computer
from ember.program import Method, Program, types
from ember.select.rules import Rules

ROOT = Path(__file__).resolve().parents[2]
KNOWN = kernels.load()


def general(board: Board, rules: Rules) -> Path:
    """Firmware that runs programs, with every kernel."""
    return runner.general(board, rules=rules)


def here(known: KernelList = KNOWN) -> Computer:
    return Computer(boards.load("host"), known, general)


def tensor(
    offset: int | None, sizes: tuple[int, ...] = (2, 3), data: int = 0
) -> types.Tensor:
    place = None if offset is None else types.Allocation(1, offset)
    order = tuple(range(len(sizes)))
    return types.Tensor(DType.FLOAT32, sizes, order, data, place)


OPERATORS = {
    "permute": types.Operator("aten::permute_copy", "out"),
    "add": types.Operator("aten::add", "out"),
    "full": types.Operator("aten::full", "out"),
    "rand": types.Operator("aten::rand", "out"),
    "cat": types.Operator("aten::cat", "out"),
    "relu": types.Operator("aten::relu", "out"),
    "mul": types.Operator("aten::mul", "out"),
    "cos": types.Operator("aten::cos", "out"),
    "slice": types.Operator("aten::slice_copy", "Tensor_out"),
    "copy_": types.Operator("aten::copy_", ""),
    "slice_scatter": types.Operator("aten::slice_scatter", "out"),
}
NUMBERS = {name: number for number, name in enumerate(OPERATORS)}


def call(name: str, *args: int) -> types.KernelCall:
    return types.KernelCall(NUMBERS[name], (*args, args[-1]))


def one_method(
    values: list[types.Value],
    calls: list[types.Instruction],
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
    constants: tuple[bytes, ...] = (),
    size: int = 1024,
) -> Model:
    method = Method(
        "forward",
        tuple(values),
        inputs,
        outputs,
        (types.Chain(tuple(calls)),),
        tuple(OPERATORS.values()),
        planned_sizes=(0, size),
    )
    content = Program((method,), (b"", *constants))
    assert program.problems(content) == []
    return Model("made", Path("made.pte"), program.write(content), (), content)


WEIGHT = np.arange(6, dtype=np.float32)
ONE, PERMUTED = types.Int(1), types.IntList((4, 5))


def linear(*, shown: bool = False) -> Model:
    """y = x + permute(w), w a constant of 3 by 2; the transposed may be an output."""
    values: list[types.Value] = [
        tensor(0),
        tensor(None, (3, 2), 1),
        tensor(64),
        tensor(128),
        types.Int(1),
        types.Int(0),
        PERMUTED,
        ONE,
    ]
    calls: list[types.Instruction] = [
        call("permute", 1, 6, 2),
        call("add", 0, 2, 7, 3),
    ]
    return one_method(
        values, calls, (0,), (3, 2) if shown else (3,), (WEIGHT.tobytes(),)
    )


def names_of(method: Method) -> list[str]:
    return [op for _, op, _ in method.kernel_calls()]
