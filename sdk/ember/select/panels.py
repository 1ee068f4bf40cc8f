"""A program and its chosen kernels become one with weights in the panels of Hexagon,
or of Cadence's dialect packed for cores with DSP instructions.

Kernels for Hexagon's vectors would bring a convolution's weights into the order that
they need in every run. Here it is done once: the call becomes one of an operator of
Ember's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ember.files.tensors import DType
from ember.program import KernelCall, Method, Program, types
from ember.program.additions import Additions
from ember.select import cadence_packed, cadence_panels, panel_layers, panel_layout
from ember.select.panel_layers import PanelLayer
from ember.select.panel_layout import Geometry, Scales
from ember.select.resolve import MethodNeeds

CONV = types.Operator("ember::quantized_conv2d_panels", "out")
DEPTHWISE = types.Operator("ember::quantized_depthwise_conv2d_panels", "out")
# The kernels whose calls get weights in panels, and those that take them then.
KERNELS = {
    "quantized_conv2d_hvx": (CONV, "quantized_conv2d_panels_hvx"),
    "quantized_depthwise_conv2d_hvx": (
        DEPTHWISE,
        "quantized_depthwise_conv2d_panels_hvx",
    ),
}
_X, _W, _BIAS, _STRIDE, _PADDING, _DILATION = range(6)  # arguments
# Those behind them; a depthwise convolution has its multiplier of channels before.
_X_OFFSET, _Y_OFFSET, _MULTIPLIERS, _SHIFTS, _LOW, _HIGH, _SCRATCH, _OUT = range(6, 14)


def kernels(allowed: Mapping[str, Sequence[str]], pins: Collection[str]) -> set[str]:
    """The kernels whose calls may get weights in panels: the one that then takes them
    is allowed, and the operator is not among the pinned ones."""
    own = {
        kernel
        for kernel, (operator, panels) in KERNELS.items()
        if panels in allowed.get(operator.full_name, ())
        and f"cortex_m::{kernel.removesuffix('_hvx')}.out" not in pins
    }
    return own | cadence_panels.kernels(allowed, pins)


def unpadded_kernels(
    allowed: Mapping[str, Sequence[str]], pins: Collection[str]
) -> set[str]:
    """Those whose weights become little longer, if at all."""
    return cadence_packed.kernels(allowed, pins)


def packed(
    program: Program, needs: Sequence[MethodNeeds], kernels: Collection[str]
) -> Program | None:
    """With weights in panels for calls of `kernels`; None where there are none. Equal
    constants may be there twice."""
    calls = {
        need.index: {
            call.instruction: call.kernel
            for call in need.calls
            if call.kernel and call.kernel in kernels and not call.volatile
        }
        for need in needs
    }
    layers = [
        [*_layers(method, program, calls.get(index, {}))]
        for index, method in enumerate(program.methods)
    ]
    apart = _left(program, layers)
    after, align = program, 1
    for index, method in enumerate(program.methods):
        mine = {
            layer.instruction: layer
            for layer in layers[index]
            if layer.data not in apart
        }
        if mine:
            after = _with_panels(after, index, method, mine)
            align = max(align, *(layer.align for layer in mine.values()))
    if after is program:
        return None
    aligned = max(align, after.layout.constant_alignment)
    return replace(after, layout=replace(after.layout, constant_alignment=aligned))


def _left(program: Program, layers: Sequence[Sequence[PanelLayer]]) -> set[int]:
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
    program: Program, index: int, method: Method, layers: Mapping[int, PanelLayer]
) -> Program:
    adding = Additions(method, program.constants)
    numbers = iter(range(len(method.instructions)))
    chains = []
    for chain in method.chains:
        instructions: list[types.Instruction] = []
        for instruction in chain.instructions:
            layer = layers.get(next(numbers))
            instructions.append(_call(adding, layer) if layer else instruction)
        chains.append(replace(chain, instructions=tuple(instructions)))
    methods = list(program.methods)
    methods[index] = replace(
        method,
        values=(*method.values, *adding.values),
        chains=tuple(chains),
        operators=adding.operators,
    )
    return replace(
        program,
        methods=tuple(methods),
        constants=(*program.constants, *adding.added),
    )


def _call(adding: Additions, layer: PanelLayer) -> KernelCall:
    return KernelCall(
        adding.add_operator(layer.operator),
        (
            layer.image,
            adding.add_constant(layer.panels),
            *((adding.add_ints(layer.kernel),) if layer.kernel else ()),
            *(arg if isinstance(arg, int) else adding.add(arg) for arg in layer.rest),
        ),
    )


# ---- layers --------------------------------------------------------------------------


def _layers(
    method: Method, program: Program, chosen: Mapping[int, str]
) -> Iterator[PanelLayer]:
    look = Additions(method, program.constants)
    for instruction, _, call in method.kernel_calls():
        kernel = chosen.get(instruction)
        layer = None
        if kernel in KERNELS:
            layer = _layer(look, instruction, KERNELS[kernel][0], call.args)
        elif kernel in cadence_panels.KERNELS:
            last = cadence_panels.KERNELS[kernel]
            layer = cadence_panels.layer(look, instruction, call.args, last=last)
        elif kernel is not None:
            last = cadence_packed.KERNELS[kernel]
            layer = cadence_packed.layer(look, instruction, call.args, last=last)
        if layer is not None:
            yield layer


def _layer(
    look: Additions, instruction: int, operator: types.Operator, args: tuple[int, ...]
) -> PanelLayer | None:
    is_depthwise = operator == DEPTHWISE
    args = args[:_X_OFFSET] + args[_X_OFFSET + is_depthwise :]
    weights = look.constant(args[_W], DType.INT8)
    own, out = look.value(args[_W]), look.value(args[_OUT])
    scales, offset = _scales(look, args), look.integer(args[_X_OFFSET])
    if weights is None or scales is None or offset is None:
        return None
    assert isinstance(own, types.Tensor)
    geometry = _geometry(look, args, weights, out)
    if geometry is None:
        return None
    packed = (
        panel_layers.depthwise(weights[0], scales, offset, geometry)
        if is_depthwise
        else panel_layers.plain(weights, scales, offset, geometry)
    )
    if packed is None:
        return None
    return PanelLayer(
        instruction=instruction,
        operator=operator,
        data=own.data_index,
        image=args[_X],
        panels=packed.panels,
        kernel=(weights.shape[3 if is_depthwise else 0], *geometry.kernel),
        rest=(
            *args[_STRIDE : _Y_OFFSET + 1],
            args[_LOW],
            args[_HIGH],
            *(types.Int(number) for number in packed.layout),
            *args[_OUT:],
        ),
    )


def _scales(look: Additions, args: tuple[int, ...]) -> Scales | None:
    multipliers = look.constant(args[_MULTIPLIERS], DType.INT32)
    shifts = look.constant(args[_SHIFTS], DType.INT32)
    if multipliers is None or shifts is None:
        return None
    if isinstance(look.value(args[_BIAS]), types.Null):
        return Scales(np.zeros_like(multipliers), multipliers, shifts)
    bias = look.constant(args[_BIAS], DType.INT32)
    return None if bias is None else Scales(bias.reshape(-1), multipliers, shifts)


def _geometry(
    look: Additions,
    args: tuple[int, ...],
    weights: panel_layout.Array,
    out: types.Value,
) -> Geometry | None:
    stride, dilation = look.integers(args[_STRIDE]), look.integers(args[_DILATION])
    if (
        not isinstance(out, types.Tensor)
        or out.is_dynamic
        or not stride
        or not dilation
    ):
        return None
    return Geometry(
        (int(weights.shape[1]), int(weights.shape[2])),
        (stride[0], stride[-1]),
        (dilation[0], dilation[-1]),
        (out.sizes[-2], out.sizes[-1]),
    )
