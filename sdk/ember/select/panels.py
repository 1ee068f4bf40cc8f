"""A program and its chosen kernels become one with weights in the panels of Hexagon.

Kernels for Hexagon's vectors would bring a convolution's weights into this order in
every run. Here it is done once: the call becomes one of an operator of Ember's own. The
layout is described in kernels/cortex_m/panels_s8.h.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ember.files.tensors import DType
from ember.program import KernelCall, Method, Program, types
from ember.program.additions import Additions
from ember.select.resolve import MethodNeeds

OPERATOR = types.Operator("ember::quantized_conv2d_panels", "out")
KERNEL = "quantized_conv2d_panels_hvx"
ALIGN = 128  # bytes of a vector: panels lie at multiples
_FROM = "quantized_conv2d_hvx"
# Arguments of the dialect's convolution.
_X, _W, _BIAS, _STRIDE, _PADDING, _DILATION, _X_OFFSET, _Y_OFFSET = range(8)
_MULTIPLIERS, _SHIFTS, _LOW, _HIGH, _SCRATCH, _OUT = range(8, 14)
_RANK = 4
_LANES, _VECTORS, _GROUP, _STEP = 32, 4, 4, 8
_MOST_MERGED = 8
_TILE = 12  # packets of a window beside those of its products
_ADDED = 128


def packed(program: Program, needs: Sequence[MethodNeeds]) -> Program | None:
    """None where no weights are packed. Equal constants may be there twice."""
    calls = {
        need.index: {
            call.instruction
            for call in need.calls
            if call.kernel == _FROM and not call.volatile
        }
        for need in needs
    }
    layers = [
        [*_layers(method, program, calls.get(index, set()))]
        for index, method in enumerate(program.methods)
    ]
    apart = _left(program, layers)
    after = program
    for index, method in enumerate(program.methods):
        mine = {
            layer.instruction: layer
            for layer in layers[index]
            if layer.data not in apart
        }
        if mine:
            after = _with_panels(after, index, method, mine)
    if after is program:
        return None
    aligned = max(ALIGN, after.layout.constant_alignment)
    return replace(after, layout=replace(after.layout, constant_alignment=aligned))


@dataclass(frozen=True)
class _Layer:
    """A convolution whose weights can be packed."""

    instruction: int
    call: KernelCall
    data: int  # the constant that its weights are
    kernel: tuple[int, int, int]  # filters, height, width
    merged: int
    panels: np.ndarray


def _left(program: Program, layers: Sequence[Sequence[_Layer]]) -> set[int]:
    """Weights that other calls read as they are: an image has them once."""
    reading = Counter(
        value.data_index
        for method in program.methods
        for _, _, call in method.kernel_calls()
        for value in (method.values[index] for index in set(call.args))
        if isinstance(value, types.Tensor) and value.is_constant
    )
    reading.subtract(layer.data for method in layers for layer in method)
    return {data for data, count in reading.items() if count > 0}


def _with_panels(
    program: Program, index: int, method: Method, layers: dict[int, _Layer]
) -> Program:
    adding = Additions(method, program.constants)
    operator = adding.add_operator(OPERATOR)
    calls = {
        layer.instruction: KernelCall(operator, _arguments(adding, layer))
        for layer in layers.values()
    }
    before = iter(enumerate(method.instructions))
    chains = tuple(
        replace(
            chain,
            instructions=tuple(
                calls.get(number, instruction)
                for _, (number, instruction) in zip(
                    chain.instructions, before, strict=False
                )
            ),
        )
        for chain in method.chains
    )
    methods = list(program.methods)
    methods[index] = replace(
        method,
        values=(*method.values, *adding.values),
        chains=chains,
        operators=adding.operators,
    )
    return replace(
        program,
        methods=tuple(methods),
        constants=(*program.constants, *adding.added),
    )


def _arguments(adding: Additions, layer: _Layer) -> tuple[int, ...]:
    args = layer.call.args
    return (
        args[_X],
        adding.add_constant(layer.panels),
        adding.add_ints(layer.kernel),
        *args[_STRIDE : _Y_OFFSET + 1],
        args[_LOW],
        args[_HIGH],
        adding.add(types.Int(layer.merged)),
        *args[_OUT:],
    )


# ---- layers --------------------------------------------------------------------------


def _layers(method: Method, program: Program, chosen: set[int]) -> Iterator[_Layer]:
    look = Additions(method, program.constants)
    for instruction, _, call in method.kernel_calls():
        if instruction in chosen:
            layer = _layer(look, instruction, call)
            if layer is not None:
                yield layer


def _layer(look: Additions, instruction: int, call: KernelCall) -> _Layer | None:
    args = call.args
    weights = look.constant(args[_W], DType.INT8)
    numbers = _numbers(look, call)
    offset = look.integer(args[_X_OFFSET])
    stride, dilation = look.integers(args[_STRIDE]), look.integers(args[_DILATION])
    tensors = [look.value(args[place]) for place in (_X, _W, _OUT)]
    x, own, out = (t for t in tensors if isinstance(t, types.Tensor))
    if weights is None or numbers is None or offset is None:
        return None
    if not stride or not dilation or x.is_dynamic or out.is_dynamic:
        return None
    if _is_short(weights, dilation[-1]):
        return None
    merged = _merged(weights, out.sizes[-1], stride[-1], dilation[-1])
    lanes = _lanes(weights, merged, stride[-1])
    bias, multipliers, shifts = numbers
    sums = weights.reshape(len(weights), -1).sum(1, dtype=np.int64) * offset + bias
    rows = np.stack(_factors(sums.astype(np.int32), multipliers, shifts))
    panels = _panels(lanes, np.tile(rows, merged))
    filters, height, width, _ = weights.shape
    kernel = (filters, height, width)
    return _Layer(instruction, call, own.data_index, kernel, merged, panels)


def _numbers(look: Additions, call: KernelCall) -> list[np.ndarray] | None:
    """Biases, multipliers and shifts of a convolution."""
    multipliers = look.constant(call.args[_MULTIPLIERS], DType.INT32)
    shifts = look.constant(call.args[_SHIFTS], DType.INT32)
    if multipliers is None or shifts is None:
        return None
    if isinstance(look.value(call.args[_BIAS]), types.Null):
        return [np.zeros_like(multipliers), multipliers, shifts]
    bias = look.constant(call.args[_BIAS], DType.INT32)
    return None if bias is None else [bias, multipliers, shifts]


def _is_short(weights: np.ndarray, dilation: int) -> bool:
    """Whether windows may become the rows of a matrix (im2row_hvx.h), which the kernel
    decides."""
    _, height, width, depth = weights.shape
    short = width * depth <= ALIGN and dilation == 1
    return bool(depth % _STEP and height > 1 and short)


def _merged(weights: np.ndarray, outputs: int, stride: int, dilation: int) -> int:
    """How many adjacent outputs share a window, so that filters fill vectors."""
    filters, height, width, depth = map(int, weights.shape)

    def cost(merged: int) -> int:
        run = (width + (merged - 1) * stride) * depth
        return height * ((run + _STEP - 1) // _STEP + 1) + _TILE

    best = 1
    if dilation != 1 and width != 1:
        return best
    for merged in range(2, min(_MOST_MERGED, outputs, _LANES // filters) + 1):
        if cost(merged) * best < cost(best) * merged:
            best = merged
    return best


# ---- layout --------------------------------------------------------------------------


def _lanes(weights: np.ndarray, merged: int, stride: int) -> np.ndarray:
    """(lanes, elements): rows of taps one after the other, each rounded up."""
    filters, height, width, depth = weights.shape
    run, shift = width * depth, stride * depth
    segment = -(-(run + (merged - 1) * shift) // _STEP) * _STEP
    lanes = np.zeros((merged, filters, height, segment), np.int8)
    for output in range(merged):
        first = output * shift
        lanes[output, :, :, first : first + run] = weights.reshape(filters, height, run)
    return lanes.reshape(merged * filters, height * segment)


def _factors(
    bias: np.ndarray, multipliers: np.ndarray, shifts: np.ndarray
) -> list[np.ndarray]:
    """The numbers of filters (scale_hvx.h)."""
    less = -1 - shifts
    return [bias, multipliers, shifts, np.maximum(less, 0), less >> 31]


def _panels(lanes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The bytes of all panels, of the weights of lanes and their numbers."""
    missing = -len(lanes) % _LANES
    filled = np.pad(lanes, ((0, missing), (0, 0)))
    numbers = np.pad(rows, ((0, 0), (0, missing)))
    most = _LANES * _VECTORS
    pieces = [
        piece
        for first in range(0, len(filled), most)
        for piece in _panel(
            filled[first : first + most], numbers[:, first : first + most]
        )
    ]
    return np.concatenate(pieces).view(np.int8)


def _panel(lanes: np.ndarray, numbers: np.ndarray) -> Iterator[np.ndarray]:
    vectors = len(lanes) // _LANES
    own = numbers.reshape(len(numbers), vectors, _LANES).transpose(1, 0, 2)
    yield np.ascontiguousarray(own, "<i4").reshape(-1).view(np.uint8)
    added = (lanes.astype(np.int16) + _ADDED).astype(np.uint8)
    words = added.reshape(vectors, _LANES, -1, _GROUP).transpose(2, 0, 1, 3)
    yield np.ascontiguousarray(words).reshape(-1)
