# SPDX-License-Identifier: Apache-2.0
"""channels: between convolutions whose channels come first, images lie with channels
innermost.

Kernels of Cadence's dialect turn such images in scratch, before and after each layer,
and their weights. Here weights are turned, calls element by element, pools and
concatenations run with channels innermost as well, and a permute stands where an image
must lie the other way: at the ends of a chain of layers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace

import numpy as np

from ember.kernels import KernelList
from ember.plan import effects, lifetimes
from ember.plan.passes import channel_layers
from ember.plan.passes.channel_layers import ChannelLayer
from ember.plan.passes.edit import Draft
from ember.plan.passes.execute import Computer
from ember.plan.passes.join import ENTRY, is_straight
from ember.program import KernelCall, Method, Program, types
from ember.program.additions import Additions
from ember.program.types import ALIGN

_PERMUTE = types.Operator("aten::permute_copy", "out")
_CALL = 32  # bytes that take as long to turn as a call takes


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        if not _has_layers(method) or not is_straight(method, here):
            continue
        adding = Additions(method, after.program.constants)
        images = _images(method, here.known, keep)
        layers = _layers(adding, here.known, images)
        chosen = _Choice(images, layers).best()
        if chosen:
            turning = _Turning(adding, images, chosen)
            changed, order = turning.method_after()
            constants = (*after.program.constants, *adding.added)
            after = replace(after, program=replace(after.program, constants=constants))
            after = after.with_method(index, changed, order)
    return [] if after is draft else [after]


def operators(program: Program) -> list[str]:
    """Those that the pass may add to a program."""
    before = {op for method in program.methods for op in method.operators}
    after = {channel_layers.renamed(op) for op in before} - before
    return sorted(op.full_name for op in (*after, _PERMUTE)) if after else []


def _has_layers(method: Method) -> bool:
    return any(channel_layers.renamed(op) != op for op in method.operators)


# ---- images --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Image:
    """A tensor that may lie either way."""

    tensor: types.Tensor
    memory_id: int
    maker: int  # instruction, or ENTRY
    readers: frozenset[int]  # instructions
    is_shown: bool  # as it is, to the caller or by another value at its place

    @property
    def cost(self) -> int:
        """Of a permute, in bytes."""
        turned = channel_layers.turned_bytes(self.tensor)
        return turned + _CALL if turned else 1


def _images(
    method: Method, known: KernelList, keep: frozenset[int]
) -> Mapping[int, _Image]:
    """By value: those that are written once, as a whole."""
    writers, readers = defaultdict(set), defaultdict(set)
    for value in method.inputs:
        writers[value].add(ENTRY)
    for index, effect in enumerate(effects.of(method, known)):
        for value in effect.writes | effect.updates:
            writers[value].add(index)
        for value in effect.reads | effect.updates:
            readers[value].add(index)
    images: dict[int, _Image] = {}
    for storage in lifetimes.of(method, known, check=False).storages:
        makers = set[int]().union(*(writers[value] for value in storage.values))
        if storage.is_state or storage.memory_id in keep or len(makers) != 1:
            continue
        (maker,) = makers
        for value in storage.values:
            tensor = method.values[value]
            if not writers[value] or not _may_turn(tensor, storage.size):
                continue
            assert isinstance(tensor, types.Tensor)
            images[value] = _Image(
                tensor,
                storage.memory_id,
                maker,
                frozenset(readers[value]),
                len(storage.values) > 1 or value in method.outputs,
            )
    return images


def _may_turn(value: types.Value, size: int) -> bool:
    return (
        isinstance(value, types.Tensor)
        and len(value.sizes) > 2
        and value.is_contiguous
        and not value.is_dynamic
        and value.nbytes == size > 0
    )


def _layers(
    look: Additions, known: KernelList, images: Mapping[int, _Image]
) -> dict[int, ChannelLayer]:
    """By instruction."""
    layers = {
        index: channel_layers.layer(look, known, index, name, call)
        for index, name, call in look.method.kernel_calls()
    }
    return {
        index: layer
        for index, layer in layers.items()
        if layer is not None
        and all(value in images for value in (*layer.images, layer.out))
        and images[layer.out].maker == index
    }


# ---- which layers --------------------------------------------------------------------


class _Choice:
    """Of layers that run with channels innermost: as few bytes as possible are turned,
    by permutes and in kernels."""

    def __init__(
        self, images: Mapping[int, _Image], layers: Mapping[int, ChannelLayer]
    ) -> None:
        self.images = images
        self.layers = layers

    def best(self) -> dict[int, ChannelLayer]:
        """All layers, without those that are as good the other way."""
        chosen = set(self.layers)
        changed = True
        while changed:
            changed = False
            for index in sorted(chosen):
                if self._cost(index, chosen - {index}) <= self._cost(index, chosen):
                    chosen.remove(index)
                    changed = True
        return {index: self.layers[index] for index in sorted(chosen)}

    def _cost(self, index: int, chosen: Set[int]) -> int:
        """Of a layer and of the images that it touches."""
        layer = self.layers[index]
        around = sum(
            self._image(self.images[value], layer, chosen)
            for value in {*layer.images, layer.out}
        )
        return around + (0 if index in chosen else layer.turned)

    def _image(self, image: _Image, layer: ChannelLayer, chosen: Set[int]) -> int:
        inner = image.maker in chosen
        first = image.is_shown or not image.readers <= chosen
        last = not image.readers.isdisjoint(chosen)
        return image.cost if (first if inner else last) else 0


# ---- the method then -----------------------------------------------------------------


class _Turning:
    """A method whose `chosen` layers run with channels innermost."""

    def __init__(
        self,
        adding: Additions,
        images: Mapping[int, _Image],
        chosen: Mapping[int, ChannelLayer],
    ) -> None:
        self.adding = adding
        self.images = images
        self.chosen = chosen
        self.sizes = list(adding.method.planned_sizes)
        self.turned: dict[int, int] = {}  # value -> the same with channels innermost

    def method_after(self) -> tuple[Method, list[int]]:
        """It, and which instruction each of its instructions stems from."""
        method = self.adding.method
        (chain,) = method.chains
        pairs = [
            (new, index)
            for index, instruction in enumerate(chain.instructions)
            for new in self._instructions(index, instruction)
        ]
        order = [index for _, index in pairs]
        changed = replace(
            method,
            values=(*self._values_left(), *self.adding.values),
            chains=(chain.rewritten((new for new, _ in pairs), order),),
            operators=self.adding.operators,
            planned_sizes=tuple(self.sizes),
        )
        return changed, order

    def _values_left(self) -> Iterator[types.Value]:
        """Those of the method; nothing where no call touches an image any more."""
        gone = {
            layer.out for layer in self.chosen.values() if not self._is_first(layer.out)
        }
        for index, value in enumerate(self.adding.method.values):
            yield types.Null() if index in gone else value

    def _is_first(self, value: int) -> bool:
        """Whether something reads an image with its channels first."""
        image = self.images[value]
        return image.is_shown or not image.readers <= self.chosen.keys()

    def _instructions(
        self, index: int, instruction: types.Instruction
    ) -> Iterator[types.Instruction]:
        layer = self.chosen.get(index)
        if layer is None:
            yield instruction
            return
        for value in layer.images:
            if value not in self.turned:
                dims = channel_layers.innermost(self._rank(value))
                yield self._permute(value, dims, self._new(value))
        out = self._new(layer.out)
        yield self._call(layer)
        if self._is_first(layer.out):
            dims = channel_layers.outermost(self._rank(layer.out))
            yield self._permute(out, dims, layer.out)

    def _rank(self, value: int) -> int:
        return len(self.images[value].tensor.sizes)

    def _new(self, value: int) -> int:
        """A value for its channels innermost, at a place of its own."""
        image = self.images[value]
        tensor, memory = image.tensor, image.memory_id
        place = types.Allocation(memory, -(-self.sizes[memory] // ALIGN) * ALIGN)
        self.sizes[memory] = place.offset + tensor.nbytes
        dims = channel_layers.innermost(len(tensor.sizes))
        new = types.Tensor(
            tensor.dtype,
            tuple(tensor.sizes[dim] for dim in dims),
            tensor.dim_order,
            allocation=place,
        )
        self.turned[value] = self.adding.add(new)
        return self.turned[value]

    def _permute(self, source: int, dims: tuple[int, ...], out: int) -> KernelCall:
        operator = self.adding.add_operator(_PERMUTE)
        return KernelCall(operator, (source, self.adding.add_ints(dims), out, out))

    def _call(self, layer: ChannelLayer) -> KernelCall:
        operator = self.adding.add_operator(layer.operator)
        moved = {*layer.images, layer.out}
        args = []
        for arg in layer.args:
            if isinstance(arg, int):
                args.append(self.turned[arg] if arg in moved else arg)
            elif isinstance(arg, np.ndarray):
                args.append(self.adding.add_constant(arg))
            elif isinstance(arg, types.TensorList):
                items = tuple(self.turned[item] for item in arg.items)
                args.append(self.adding.add(types.TensorList(items)))
            else:
                args.append(self.adding.add(arg))
        return KernelCall(operator, tuple(args))
