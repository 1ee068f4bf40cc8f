"""A network over whole recordings becomes one that takes a hop of samples a call.

Layers that look along time keep what they need of earlier calls in buffers, so that a
call computes only what is new.
"""

from __future__ import annotations

import copy
from typing import Any

from ember.errors import SdkError
from ember.export.operators import library
from ember.export.packages import need

torch = need("torch")
nn = torch.nn

_OF_ONE = (nn.Conv1d, nn.AvgPool1d, nn.MaxPool1d)
_OF_TWO = (nn.Conv2d, nn.AvgPool2d, nn.MaxPool2d)
_WHOLE = (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d)
_CELLS = {nn.LSTM: nn.LSTMCell, nn.GRU: nn.GRUCell, nn.RNN: nn.RNNCell}
_PADDING = "leave it out: Causal puts zeros before the first frame"


class Streaming(torch.nn.Module):  # type: ignore[misc, name-defined]
    """One hop of samples in, one frame out: (.., hop) -> (.., features).

    front     a LogMel, an MFCC, or any module with `window`, `hop` and of_frames();
              with `int16` if its samples are
    channels  dimensions before the samples, such as (2,) for stereo

    The last window - hop samples are a state that starts as zeros. Consecutive calls
    give the frames of `front` for window - hop zeros followed by all samples, on a
    board bit for bit. Loading the method again, or reset() here, starts again.
    """

    def __init__(self, front: Any, channels: tuple[int, ...] = ()) -> None:
        super().__init__()
        if front.hop > front.window:
            raise SdkError(
                f"a hop of {front.hop} leaves samples out of windows of {front.window}",
                hint="take a hop of at most the window",
            )
        self.front = front
        kept = front.window - front.hop
        dtype = torch.int16 if getattr(front, "int16", False) else torch.float32
        zeros = torch.zeros(*channels, kept, dtype=dtype)
        self.register_buffer("samples", zeros, persistent=False)

    def forward(self, hop: Any) -> Any:
        frame = torch.cat([self.samples, hop], dim=-1)
        self.samples.copy_(frame[..., self.front.hop :])
        return self.front.of_frames(frame)

    def reset(self) -> None:
        self.samples.zero_()


class Causal(nn.Module):  # type: ignore[misc, name-defined]
    """A convolution or pooling over time that never looks ahead.

    layer  of one dimension, on (n, channels, time), or of two, on (n, channels, time,
           width); without padding along time. int8 for Cortex-M takes those of two

    Frames before the first are zeros. The number of results is the number of frames,
    divided by the stride.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__()
        if not isinstance(layer, _OF_ONE + _OF_TWO):
            raise SdkError(
                f"{type(layer).__name__} is not a convolution or pooling over time",
                hint="Causal takes Conv1d, Conv2d, and AvgPool and MaxPool of either",
            )
        if getattr(layer, "ceil_mode", False):
            raise SdkError("ceil_mode looks behind the last frame")
        if _along_time(layer, "padding") != 0:
            raise SdkError("padding along time looks ahead", hint=_PADDING)
        self.layer = layer
        self.axis = -1 if isinstance(layer, _OF_ONE) else -2
        self.stride = _along_time(layer, "stride")
        self.past = _reach(layer)  # frames before the current one

    def forward(self, frames: Any) -> Any:
        zeros = (0, 0) * (-self.axis - 1) + (self.past, 0)
        return self.layer(nn.functional.pad(frames, zeros))

    def in_hops(self) -> Held:
        return StreamingCausal(self)


class Held(nn.Module):  # type: ignore[misc, name-defined]
    """A layer whose buffers are a state between calls, zero at the start."""


class StreamingCausal(Held):
    """A Causal that keeps the frames before the next ones."""

    def __init__(self, causal: Causal) -> None:
        super().__init__()
        self.causal = causal
        self.frames: Any
        self.register_buffer("frames", None, persistent=False)

    def forward(self, frames: Any) -> Any:
        causal, axis = self.causal, self.causal.axis
        new = frames.shape[axis]
        if new % causal.stride:
            raise SdkError(
                f"a hop has {new} frames where a layer has a stride of {causal.stride}",
                hint="take hops of a multiple of all strides together",
            )
        if causal.past == 0:
            return causal.layer(frames)
        if self.frames is None:
            shape = list(frames.shape)
            shape[axis] = causal.past
            self.frames = frames.new_zeros(shape)
        window = torch.cat([self.frames, frames], dim=axis)
        self.frames.copy_(window.narrow(axis, new, causal.past))
        return causal.layer(window)


class StreamingRecurrent(Held):
    """An LSTM, GRU or RNN that continues where the last call ended.

    It consists of cells, whose linear layers can be quantised to int8.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__()
        if layer.bidirectional or getattr(layer, "proj_size", 0):
            raise SdkError(
                f"{type(layer).__name__} in both directions or with projections cannot"
                " take a hop at a time"
            )
        self.dim = 1 if layer.batch_first else 0
        self.cells = nn.ModuleList(_cells(layer))
        parts = ("hidden", "memory") if isinstance(layer, nn.LSTM) else ("hidden",)
        self.names = [
            [f"{part}_{index}" for part in parts] for index in range(layer.num_layers)
        ]
        for name in (name for names in self.names for name in names):
            self.register_buffer(name, None, persistent=False)

    def forward(self, frames: Any, start: Any = None) -> Any:
        if start is not None:
            raise SdkError(
                "a recurrent layer that takes a hop at a time keeps its own state",
                hint="call it with only the frames",
            )
        outputs = [self._step(x) for x in frames.unbind(self.dim)]
        held = [[getattr(self, name) for name in names] for names in self.names]
        states = [torch.stack(list(layers)) for layers in zip(*held, strict=True)]
        last = tuple(states) if len(states) > 1 else states[0]
        return torch.stack(outputs, self.dim), last

    def _step(self, x: Any) -> Any:
        for cell, names in zip(self.cells, self.names, strict=True):
            for name in names:
                if getattr(self, name) is None:
                    setattr(self, name, x.new_zeros(x.shape[0], cell.hidden_size))
            held = [getattr(self, name) for name in names]
            new = cell(x, tuple(held) if len(held) > 1 else held[0])
            new = new if len(held) > 1 else (new,)
            for state, value in zip(held, new, strict=True):
                state.copy_(value)
            x = new[0]
        return x


def streamed(model: Any, *hop: Any) -> Any:
    """A copy of a model, in evaluation mode, that takes a hop of a recording at a time.

    hop  the inputs of a call, such as (torch.zeros(1, 40, 1, 10),): one hop of frames

    Causal, filters, LSTM, GRU and RNN inside keep states, which start at zero; every
    other layer must compute each frame independently. Consecutive calls give what the
    model gives for the whole recording. reset() starts again. Raises SdkError for a
    layer that looks along time without Causal.
    """
    model = _replaced(copy.deepcopy(model).eval(), "0")
    with torch.no_grad():
        model(*copy.deepcopy(hop))
    reset(model)
    return model


def reset(model: Any) -> None:
    """Sets the states of all streaming layers of a model to zero."""
    for module in model.modules():
        if isinstance(module, (Streaming, Held)):
            for buffer in module.buffers(recurse=False):
                buffer.zero_()


def _replaced(module: Any, name: str) -> Any:
    if hasattr(module, "in_hops"):
        return module.in_hops()
    if isinstance(module, tuple(_CELLS)):
        return StreamingRecurrent(module)
    looks = isinstance(module, _OF_ONE + _OF_TWO) and _reach(module) > 0
    if looks or isinstance(module, _WHOLE):
        raise SdkError(
            f"layer {name}, {type(module).__name__}, looks along time",
            hint="make it Causal; a mean over all frames becomes"
            " Causal(nn.AvgPool2d((frames, 1)))",
        )
    for child_name, child in module.named_children():
        setattr(module, child_name, _replaced(child, child_name))
    return module


def _reach(layer: Any) -> int:
    return (_along_time(layer, "kernel_size") - 1) * _along_time(layer, "dilation")


def _along_time(layer: Any, name: str) -> int:
    value = getattr(layer, name, 1)
    if isinstance(value, str):
        raise SdkError(f"padding {value!r} looks ahead", hint=_PADDING)
    return int(value[0] if isinstance(value, tuple) else value)


def _cells(layer: Any) -> list[Any]:
    """The cells of a recurrent layer, with its parameters."""
    cells = []
    for index in range(layer.num_layers):
        size = layer.input_size if index == 0 else layer.hidden_size
        options = {"nonlinearity": layer.nonlinearity} if type(layer) is nn.RNN else {}
        cell = _CELLS[type(layer)](size, layer.hidden_size, bias=layer.bias, **options)
        for name in dict(cell.named_parameters()):
            setattr(cell, name, getattr(layer, f"{name}_l{index}"))
        cells.append(cell)
    return cells


# ---- SVDF ----------------------------------------------------------------------------


class SVDF(Held):
    """A linear layer over the last `memory` frames, whose weights are products.

    inputs  numbers in a frame
    units   numbers in a result
    memory  frames that a result depends on
    rank    filters per unit: more of them approximate a full layer better
    bias    whether a number is added to each unit
    rows    sources whose frames come in one call: the first dimension of x

    x is one frame, (rows, inputs), and the result (rows, units); or consecutive frames,
    (rows, steps, inputs), and a result for each. The filters' outputs for the last
    frames are a state that starts as zeros; reset() starts again. In training each call
    is a whole recording with any number of rows: it starts with zeros and keeps
    nothing.

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
        y, after = library.defined().svdf(x, held, *given)
        if not self.training:
            self.held.copy_(after)
        return y
