# SPDX-License-Identifier: Apache-2.0
"""Networks of Cadence's dialect whose channels come first, made here."""

from __future__ import annotations

from pathlib import Path

from benchmarks import cadence_layers
from benchmarks.hvx_layers import Convolution, Writer

from ember import program
from ember.files.tensors import DType
from ember.model import Model
from ember.program import types


class Network(Writer):
    """Calls one after the other, on images whose channels come first."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[types.KernelCall] = []
        self.operators: list[types.Operator] = []

    def input(self, *sizes: int, dtype: DType = DType.INT8) -> int:
        return self.planned(dtype, sizes, channels_last=False)

    def call(self, operator: types.Operator, args: list[int]) -> int:
        """Its output, the last of the arguments."""
        if operator not in self.operators:
            self.operators.append(operator)
        number = self.operators.index(operator)
        self.calls.append(types.KernelCall(number, (*args, args[-1])))
        return args[-1]

    def convolution(self, x: int, layer: Convolution) -> int:
        return self.call(*cadence_layers.convolution(self, layer, x, last=False))

    def relu(self, x: int) -> int:
        args = [x, *self.numbers(-5, -5, 1 << 30, 0), self.like(x)]
        return self.call(_operator("quantized_relu", "per_tensor_out"), args)

    def add_images(self, a: int, b: int) -> int:
        args = [a, *self._scaled(), b, *self._scaled(), *self._scaled(), self.like(a)]
        return self.call(_operator("quantized_add", "per_tensor_out"), args)

    def pool(self, x: int) -> int:
        batches, channels, height, width = self.sizes(x)
        pairs = [self.pair(n) for n in (2, 2, 0, 1)]
        out = self.input(batches, channels, height // 2, width // 2)
        args = [x, *pairs, self.add(types.Bool(False)), out]
        return self.call(_operator("quantized_max_pool2d_nchw", "out"), args)

    def quantize(self, x: int) -> int:
        args = [
            x,
            *self._scaled(),
            *self.numbers(-128, 127, DType.INT8),
            self.input(*self.sizes(x)),
        ]
        return self.call(_operator("quantize_per_tensor", "out"), args)

    def joined(self, a: int, b: int) -> int:
        batches, channels, *space = self.sizes(a)
        out = self.input(batches, channels + self.sizes(b)[1], *space)
        args = [self.add(types.TensorList((a, b))), *self.numbers(-3), out]
        return self.call(types.Operator("aten::cat", "out"), args)

    def flat(self, x: int) -> int:
        """A view of an image as a row."""
        image = self.values[x]
        assert isinstance(image, types.Tensor)
        sizes = (image.sizes[0], image.numel // image.sizes[0])
        row = types.Tensor(image.dtype, sizes, (0, 1), 0, image.allocation)
        return self.add(row)

    def model(self, inputs: list[int], *outputs: int) -> Model:
        method = types.Method(
            name="forward",
            values=tuple(self.values),
            inputs=tuple(inputs),
            outputs=outputs,
            chains=(types.Chain(tuple(self.calls)),),
            operators=tuple(self.operators),
            planned_sizes=(0, self.end),
        )
        whole = types.Program(methods=(method,), constants=tuple(self.constants))
        assert program.problems(whole) == []
        return Model("made", Path("made.pte"), program.write(whole), (), whole)

    def sizes(self, x: int) -> tuple[int, ...]:
        image = self.values[x]
        assert isinstance(image, types.Tensor)
        return image.sizes

    def like(self, x: int) -> int:
        return self.input(*self.sizes(x))

    def _scaled(self) -> list[int]:
        return [self.add(types.Double(0.05)), *self.numbers(-5)]


def _operator(name: str, overload: str) -> types.Operator:
    return types.Operator(f"cadence::{name}", overload)
