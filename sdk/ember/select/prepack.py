"""A model and its chosen kernels become the model with weights packed for them.

Weights of convolutions become constants of other operators: panels for Hexagon, whose
kernels would otherwise bring weights into the order that they need in every run, or
packed weights for cores with DSP instructions (packed.py).

Weights of delegates become named data of the image; the plain weights are left out of
it if every node that reads them reads them packed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ember.files import tensor_data, xnnpack
from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.kernels.schemas import NamedCall
from ember.model import Model
from ember.program import KernelCall, Method, NamedData, Program, types
from ember.program.edit import Additions
from ember.select import packed, panel_layers
from ember.select.panel_layers import Geometry, PanelLayer, Scales
from ember.select.resolve import MethodNeeds, PackedWeights


@dataclass
class _Uses:
    """Names of data that delegates read."""

    packed: dict[str, PackedWeights] = field(default_factory=dict)  # by their own name
    kept: set[str | None] = field(default_factory=set)
    replaced: set[str | None] = field(default_factory=set)

    @property
    def left_out(self) -> set[str]:
        return {name for name in self.replaced - self.kept if name}


@dataclass(frozen=True)
class Prepacked:
    """The contents of a model with packed weights instead of its own."""

    program: Program
    data: tuple[bytes, ...]  # the .ptd files
    sizes: Mapping[str, int]  # of packed weights: bytes, by name


def convolutions(
    program: Program,
    needs: Sequence[MethodNeeds],
    allowed: Mapping[str, Sequence[str]],
    pins: Collection[str],
    *,
    known: KernelList,
    optimize: str,
) -> Program:
    """The same program where no convolution has a kernel that takes packed weights.

    allowed -- kernels of the board by operator
    pins -- operators whose kernels the user chose: they stay
    optimize -- for size, no weights become longer; for speed, some become several times
    as long
    """
    chosen = {call.kernel for need in needs for call in need.calls}
    after = program
    for form in (
        (packed.WINOGRAD, packed.QUADS) if optimize == "speed" else (packed.QUADS,)
    ):
        if form.usable(allowed, pins):
            after = packed.with_packed(after, needs, form, known)
    kernels = unpadded_kernels(allowed, pins)
    kernels |= set() if optimize == "size" else panel_kernels(allowed, pins)
    kernels &= chosen
    return (with_panels(after, needs, kernels, known) or after) if kernels else after


def prepack(model: Model, needs: Sequence[MethodNeeds]) -> Prepacked | None:
    """None where no kernel packs weights."""
    uses = _uses(model.program, {need.index: need for need in needs})
    if not uses.packed:
        return None
    gone = uses.left_out
    kept = [data for data in model.program.named_data if data.key not in gone]
    kept += [
        NamedData(name, weights.data) for name, weights in sorted(uses.packed.items())
    ]
    kept.sort(key=lambda data: data.key.encode())  # the runtime searches it by halves
    packed = replace(model.program, named_data=tuple(kept))
    return Prepacked(
        packed,
        tuple(_without(blob, gone) for blob in model.data),
        {name: len(weights.data) for name, weights in sorted(uses.packed.items())},
    )


def _uses(program: Program, needs: dict[int, MethodNeeds]) -> _Uses:
    uses = _Uses()
    for index, method in enumerate(program.methods):
        delegates = needs[index].delegates if index in needs else {}
        for number, delegate in enumerate(method.delegates):
            if delegate.id != xnnpack.BACKEND:  # may read what it likes
                uses.kept |= {each.key for each in program.named_data}
                continue
            graph = xnnpack.parse(delegate.data)
            nodes = delegates[number].nodes if number in delegates else ()
            packed = [node.packed for node in nodes] or [None] * len(graph.nodes)
            for node, weights in zip(graph.nodes, packed, strict=True):
                _add(uses, node, weights)
    return uses


def _add(uses: _Uses, node: xnnpack.Node, weights: PackedWeights | None) -> None:
    for place, value in enumerate(node.inputs):
        mine = weights if place == 1 else None
        (uses.replaced if mine else uses.kept).add(value.key)
        (uses.replaced if mine and mine.scales else uses.kept).add(value.scales_key)
    if weights:
        uses.packed[weights.name] = weights


def _without(data: bytes, gone: set[str]) -> bytes:
    """A data file without what is left out; unchanged when it has none of it."""
    parsed = tensor_data.parse(data)
    kept = tuple(entry for entry in parsed.entries if entry.key not in gone)
    if len(kept) == len(parsed.entries):
        return data
    return tensor_data.write(replace(parsed, entries=kept))


# ---- panels --------------------------------------------------------------------------


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


def panel_kernels(
    allowed: Mapping[str, Sequence[str]], pins: Collection[str]
) -> set[str]:
    """The kernels whose calls may get weights in panels: the one that then takes them
    is allowed, and the operator is not among the pinned ones."""
    kernels_of_panels = {
        kernel
        for kernel, (operator, panels) in KERNELS.items()
        if panels in allowed.get(operator.full_name, ())
        and f"cortex_m::{kernel.removesuffix('_hvx')}.out" not in pins
    }
    return kernels_of_panels | panel_layers.kernels(allowed, pins)


def unpadded_kernels(
    allowed: Mapping[str, Sequence[str]], pins: Collection[str]
) -> set[str]:
    """Those whose weights become little longer, if at all."""
    return packed.kernels(allowed, pins)


def with_panels(
    program: Program,
    needs: Sequence[MethodNeeds],
    kernels: Collection[str],
    known: KernelList,
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
        [*_layers(method, program, calls.get(index, {}), known)]
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
            after = _with_panels(after, index, method, mine, known)
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
    program: Program,
    index: int,
    method: Method,
    layers: Mapping[int, PanelLayer],
    known: KernelList,
) -> Program:
    adding = Additions(method, program.constants)
    numbers = iter(range(len(method.instructions)))
    chains = []
    for chain in method.chains:
        instructions: list[types.Instruction] = []
        for instruction in chain.instructions:
            layer = layers.get(next(numbers))
            instructions.append(_call(adding, layer, known) if layer else instruction)
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


def _call(adding: Additions, layer: PanelLayer, known: KernelList) -> KernelCall:
    operator = known.operators[layer.operator.full_name]
    args = operator.ordered(layer.arguments, layer.result)
    index = adding.add_operator(layer.operator)
    return KernelCall(index, tuple(map(adding.given, args)))


# ---- layers --------------------------------------------------------------------------


def _layers(
    method: Method, program: Program, chosen: Mapping[int, str], known: KernelList
) -> Iterator[PanelLayer]:
    look = Additions(method, program.constants)
    for instruction, _, plain in method.kernel_calls():
        kernel, call = chosen.get(instruction), known.named(method, plain)
        layer = None
        if kernel in KERNELS:
            layer = _layer(look, instruction, KERNELS[kernel][0], call)
        elif kernel in panel_layers.KERNELS:
            last = panel_layers.KERNELS[kernel]
            layer = panel_layers.layer(look, instruction, call, last=last)
        elif kernel is not None:
            last = packed.KERNELS[kernel]
            layer = packed.layer(look, instruction, call, last=last)
        if layer is not None:
            yield layer


def _layer(
    look: Additions, instruction: int, operator: types.Operator, call: NamedCall
) -> PanelLayer | None:
    is_depthwise = operator == DEPTHWISE
    weights = look.constant(call["weight"], DType.INT8)
    scales, offset = _scales(look, call), look.integer(call["input_offset"])
    if weights is None or scales is None or offset is None:
        return None
    geometry = _geometry(look, call, weights)
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
        data=call.tensor("weight").data_index,
        result=call.result,
        arguments={
            **call.arguments,
            "panels": packed.panels,
            "kernel": (weights.shape[3 if is_depthwise else 0], *geometry.kernel),
            **{name: types.Int(number) for name, number in packed.layout.items()},
        },
    )


def _scales(look: Additions, call: NamedCall) -> Scales | None:
    multipliers = look.constant(call["requantize_multipliers"], DType.INT32)
    shifts = look.constant(call["requantize_shifts"], DType.INT32)
    if multipliers is None or shifts is None:
        return None
    if isinstance(call.value("bias"), types.Null):
        return Scales(np.zeros_like(multipliers), multipliers, shifts)
    bias = look.constant(call["bias"], DType.INT32)
    return None if bias is None else Scales(bias.reshape(-1), multipliers, shifts)


def _geometry(
    look: Additions, call: NamedCall, weights: panel_layers.Array
) -> Geometry | None:
    stride, dilation = look.integers(call["stride"]), look.integers(call["dilation"])
    out = call.value("out")
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
