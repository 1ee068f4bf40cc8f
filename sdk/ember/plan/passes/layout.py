"""channels, layout: tensors get the order of dimensions in which they are read.

channels: between convolutions whose channels come first, images are stored with
channels innermost. Kernels of Cadence's dialect turn such images in scratch, before and
after each layer, and their weights. Here weights are turned, element-wise calls, pools
and concatenations run with channels innermost as well, and a permute stands where an
image must be the other way round: at the ends of a chain of layers.

layout: a cache of keys is turned in each run for the product that reads it. If the
cache itself is stored that way, its new rows are turned when they are put into it, and
the call that turns the whole is a view. The dim order of a tensor states how it is
stored; only calls that accept any, permutes and those that amend the state, may touch
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from ember.kernels import KernelList
from ember.kernels.schemas import NamedCall
from ember.plan import effects, lifetimes
from ember.plan.passes import channel_layers, join
from ember.plan.passes.channel_layers import ChannelLayer
from ember.plan.passes.execute import Computer
from ember.plan.passes.join import ENTRY, Joining, Store, is_straight
from ember.program import KernelCall, Method, Program, types
from ember.program.edit import Additions, Draft, with_values
from ember.program.types import ALIGN

_PERMUTE = types.Operator("aten::permute_copy", "out")
_CALL = 32  # bytes that take as long to turn as a call takes


def channels_last(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
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
        index: channel_layers.layer(look, known, index, known.named(look.method, call))
        for index, _, call in look.method.kernel_calls()
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
        """The method, and each instruction's original index."""
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
            elif isinstance(arg, types.TensorList):
                items = tuple(self.turned[item] for item in arg.items)
                args.append(self.adding.add(types.TensorList(items)))
            else:
                args.append(self.adding.given(arg))
        return KernelCall(operator, tuple(args))


_PERMUTED = "aten::permute_copy.out"
# ---- layout, of states ---------------------------------------------------------------


_TRANSPOSE = "aten::transpose_copy.int_out"
Order = tuple[int, ...]  # dimensions, outermost first


def states(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after, done = draft, False
    while not done:
        turned = _turned(after, here, keep)
        viewed = join.views(turned, here, keep) if turned is not after else []
        done = not viewed
        after = viewed[0] if viewed else after
    return [] if after is draft else [after]


def _turned(draft: Draft, here: Computer, keep: frozenset[int]) -> Draft:
    """The draft with states in the order of the first call that turns them."""
    for index, method in enumerate(draft.program.methods):
        if not is_straight(method, here):
            continue
        states = _States(method, here, keep)
        orders = dict(states.orders())
        if orders:
            numbers = range(len(method.instructions))
            draft = draft.with_method(index, _with_orders(method, orders), numbers)
    return draft


def _with_orders(method: Method, orders: Mapping[int, Order]) -> Method:
    changed: dict[int, types.Value] = {}
    for value, order in orders.items():
        tensor = method.values[value]
        assert isinstance(tensor, types.Tensor)
        changed[value] = replace(tensor, dim_order=order)
    return with_values(method, changed)


class _States:
    def __init__(self, method: Method, here: Computer, keep: frozenset[int]) -> None:
        self.method = method
        self.known = here.known
        self.joining = Joining(method, here, keep)

    def orders(self) -> Iterator[tuple[int, Order]]:
        """New dim orders of values."""
        for number, store in self.joining.stores.items():
            if store.is_state and number not in self.joining.fixed:
                yield from (self._of(store) or {}).items()

    def _of(self, store: Store) -> Mapping[int, Order] | None:
        """Those of all values of a state; None if it stays as it is."""
        if store.is_input or store.is_output or not self._is_whole(store):
            return None
        turning = None
        for index, effect in enumerate(self.joining.effects):
            if effect.touched.isdisjoint(store.starts):
                continue
            call = self.method.instructions[index]
            if not isinstance(call, types.KernelCall):
                return None
            named = self.known.named(self.method, call)
            if named.operator in (_PERMUTED, _TRANSPOSE):
                turning = turning or self._wanted(store, named)
            elif (
                not self.known.amends_self(named.operator)
                or named["self"] not in store.starts
            ):
                return None
        return turning

    def _is_whole(self, store: Store) -> bool:
        """Whether each value has all bytes of the state, which starts as zeros."""
        return all(
            self._tensor(value).nbytes == store.size
            and self._tensor(value).data_index == 0
            and not self._tensor(value).is_dynamic
            for value in store.starts
        )

    def _wanted(self, store: Store, call: NamedCall) -> Mapping[int, Order] | None:
        """The orders of all values with which a call turns nothing."""
        source, out = call["self"], call.tensor("out")
        if source not in store.starts:
            return None
        dims = _dims(call, len(out.sizes))
        now = _lying(self._tensor(source))
        wanted = [dims[dim] for dim in _lying(out)]
        places = [now.index(dim) for dim in wanted]
        return self._placed(store, source, places) if wanted != now else None

    def _placed(
        self, store: Store, source: int, places: Sequence[int]
    ) -> Mapping[int, Order] | None:
        """The orders with `places` of the dimensions as they lie now in their places;
        None unless all values are like `source` there."""
        orders: dict[int, Order] = {}
        for value in store.starts:
            tensor = self._tensor(value)
            if _lying_sizes(tensor) != _lying_sizes(self._tensor(source)):
                return None
            now = _lying(tensor)
            orders[value] = _order(tensor.sizes, [now[place] for place in places])
        return orders

    def _tensor(self, value: int) -> types.Tensor:
        tensor = self.method.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor


def _dims(call: NamedCall, rank: int) -> Order:
    """The dimension of the argument that each one of the result is."""
    if call.operator == _PERMUTED:
        given = call.value("dims")
        assert isinstance(given, types.IntList)
        numbers = call.method.int_list(given)
        assert numbers is not None
        return tuple(number % rank for number in numbers)
    first, second = (_int(call.value(name)) % rank for name in ("dim0", "dim1"))
    dims = list(range(rank))
    dims[first], dims[second] = second, first
    return tuple(dims)


def _int(number: types.Value) -> int:
    assert isinstance(number, types.Int)
    return number.value


def _lying(tensor: types.Tensor) -> list[int]:
    """Its dimensions of more than one as they lie, outermost first."""
    return [dim for dim in tensor.dim_order if tensor.sizes[dim] != 1]


def _lying_sizes(tensor: types.Tensor) -> list[int]:
    return [tensor.sizes[dim] for dim in _lying(tensor)]


def _order(sizes: Sequence[int], lying: Sequence[int]) -> Order:
    """The dim order in which the dimensions of more than one lie so."""
    if list(lying) == sorted(lying):
        return tuple(range(len(sizes)))
    ones = [dim for dim, size in enumerate(sizes) if size == 1]
    return (*ones, *lying)
