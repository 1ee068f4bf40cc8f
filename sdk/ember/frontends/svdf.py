"""A layer of few weights that looks along time: filters over inputs, then over time."""

from __future__ import annotations

from typing import Any

from ember.errors import SdkError
from ember.export.packages import need
from ember.export.signal import operators
from ember.frontends.hops import Held

torch = need("torch")


class SVDF(Held):
    """A linear layer over the last `memory` frames, whose weights are products.

    inputs  numbers of a frame
    units   of results
    memory  frames that a result depends on
    rank    filters of a unit: more of them are nearer to a layer of all weights
    bias    whether a number is added to each unit
    rows    frames of as many sources in each call: the first dimension of x

    x is a frame, (rows, inputs), and the result (rows, units); or frames in a row,
    (rows, steps, inputs), and a result for each. What the filters made of the last
    frames is a state, zeros at the start; reset() starts again. In training a call is a
    whole recording, of any rows: it starts with zeros and keeps nothing.

    int8 of the Cortex-M flow makes one operator of it, with a state of int16.
    """

    def __init__(
        self,
        inputs: int,
        units: int,
        memory: int,
        rank: int = 1,
        *,
        bias: bool = True,
        rows: int = 1,
    ) -> None:
        super().__init__()
        if min(inputs, units, memory, rank, rows) < 1:
            raise SdkError(
                "inputs, units, memory, rank and rows of SVDF are at least 1"
            )
        filters = units * rank
        self.rank = rank
        self.weights = torch.nn.Parameter(torch.empty(filters, inputs))
        self.times = torch.nn.Parameter(torch.empty(filters, memory))
        self.bias = torch.nn.Parameter(torch.zeros(units)) if bias else None
        torch.nn.init.uniform_(self.weights, -(inputs**-0.5), inputs**-0.5)
        torch.nn.init.uniform_(self.times, -(memory**-0.5), memory**-0.5)
        self.held: Any
        state = torch.zeros(rows, filters, memory)
        self.register_buffer("held", state, persistent=False)

    def forward(self, x: Any) -> Any:
        given = (self.weights, self.times, self.bias, self.rank)
        held = self.held
        if self.training:
            held = held.new_zeros((x.shape[0], *held.shape[1:]))
        y, after = operators.defined().svdf(x, held, *given)
        if not self.training:
            self.held.copy_(after)
        return y
