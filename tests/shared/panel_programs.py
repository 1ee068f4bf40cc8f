# SPDX-License-Identifier: Apache-2.0
"""Convolutions of the cortex_m dialect become programs with panels for Hexagon, on a
computer where no such kernel is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from row_programs import Network
from small_programs import KNOWN

from ember.model import Model
from ember.plan.replan import trimmed
from ember.program import Program
from ember.select import prepack
from ember.select.resolve import Call, MethodNeeds


@dataclass(frozen=True)
class Layer:
    """A convolution; `whole` means that some scales do not shift sums."""

    sizes: tuple[int, int, int, int]
    filters: int
    kernel: int
    options: tuple[tuple[str, int], ...] = ()
    whole: bool = False

    @property
    def model(self) -> Model:
        net = Network(self.filters, self.sizes)
        options: dict[str, Any] = dict(self.options)
        y = net.conv(net.input, self.filters, self.kernel, **options)
        if self.whole:
            small = net.random.integers(1 << 18, 1 << 22, self.filters, np.int32)
            net.constants[-2] = small.tobytes()
            shifts = net.random.integers(-1, 1, self.filters, np.int32)
            net.constants[-1] = shifts.tobytes()
        return net.model(y)


# What panels differ in: outputs side by side in a window, several panels, the last one
# of fewer vectors, images that are read in place, rows of taps that are filled up, taps
# that stand apart, strides, and sums that are not shifted; of depthwise layers, how
# often channels repeat, more than four rows of taps, and rows that share their words.
LAYERS = {
    "merged": Layer((1, 8, 9, 7), 6, 3),
    "merged_stride": Layer((1, 16, 7, 11), 12, 1, (("stride", 2),)),
    "two_panels": Layer((1, 24, 5, 4), 164, 1),
    "direct": Layer((1, 16, 6, 5), 40, 3, (("padding", 0),)),
    "filled": Layer((1, 27, 6, 6), 33, 5),
    "dilated": Layer((1, 12, 9, 8), 20, 3, (("dilation", 2), ("stride", 2))),
    "unshifted": Layer((1, 8, 4, 6), 36, 3, whole=True),
    "depthwise": Layer((1, 24, 8, 9), 24, 3, (("depthwise", 1),)),
    "depthwise_shared": Layer((1, 16, 36, 9), 16, 3, (("depthwise", 1),)),
    "depthwise_5x5": Layer(
        (1, 40, 9, 8), 40, 5, (("depthwise", 1), ("stride", 2)), whole=True
    ),
    "depthwise_narrow": Layer((1, 136, 5, 1), 136, 3, (("depthwise", 1),)),
}


def needs(program: Program) -> list[MethodNeeds]:
    """What the loader would tell of methods whose convolutions all get the kernel for
    Hexagon's vectors."""
    return [
        MethodNeeds(
            index=index,
            calls=tuple(
                Call(number, _kernel(name), True, 0, 0, False, False, "")
                for number, name, _ in method.kernel_calls()
            ),
            missing_delegates=(),
            arena=0,
            temp=0,
            slots=0,
            changing=False,
        )
        for index, method in enumerate(program.methods)
    ]


def _kernel(operator: str) -> str:
    name = operator.removeprefix("cortex_m::").removesuffix(".out") + "_hvx"
    return name if name in prepack.KERNELS else "other"


def packed(program: Program) -> Program:
    after = prepack.with_panels(program, needs(program), prepack.KERNELS, KNOWN)
    assert after is not None
    return trimmed(after)
