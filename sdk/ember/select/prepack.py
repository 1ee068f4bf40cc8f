"""A model and its chosen kernels become the model with weights packed for them.

Those of convolutions are constants of other operators. Those of delegates are named
data of the image; the weights themselves are left out of it where every node that reads
them reads them packed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ember.files import tensor_data, xnnpack
from ember.model import Model
from ember.program import NamedData, Program
from ember.select import packed_convolutions, panels, quads, winograd
from ember.select.delegates import PackedWeights
from ember.select.resolve import MethodNeeds


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
    for form in (winograd.FORM, quads.FORM) if optimize == "speed" else (quads.FORM,):
        if form.usable(allowed, pins):
            after = packed_convolutions.packed(after, needs, form)
    kernels = panels.unpadded_kernels(allowed, pins)
    kernels |= set() if optimize == "size" else panels.kernels(allowed, pins)
    kernels &= chosen
    return (panels.packed(after, needs, kernels) or after) if kernels else after


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
