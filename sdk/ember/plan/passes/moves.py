"""Calls that only move bytes, and where in one tensor they put another.

Of an operator only its name is listed as one that moves elements. Running it here on
random bytes shows what it does. So one rule serves slices, reshapes, copies and joins,
whatever their arguments and dim orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ember.cases import Run, batch
from ember.cases.inputs import TensorValue
from ember.files.tensors import DType
from ember.plan import effects
from ember.plan.effects import Effects
from ember.plan.passes.execute import Computer, Executable
from ember.plan.replan import trimmed
from ember.program import Method, Program, types
from ember.program.types import ALIGN

# Each element of a result is one of an argument, which one depends on no element.
TAKING = frozenset(
    f"aten::{name}"
    for name in (
        "alias_copy",
        "as_strided_copy",
        "clone",
        "detach_copy",
        "diagonal_copy",
        "expand_copy",
        "lift_fresh_copy",
        "narrow_copy",
        "permute_copy",
        "select_copy",
        "slice_copy",
        "split_copy",
        "split_with_sizes_copy",
        "squeeze_copy",
        "t_copy",
        "transpose_copy",
        "unbind_copy",
        "unfold_copy",
        "unsqueeze_copy",
        "view_copy",
    )
) | {"dim_order_ops::_clone_dim_order", "dim_order_ops::_to_dim_order_copy"}
JOINING = frozenset({"aten::cat", "aten::stack"})
_PATTERNS = 3
_Number = Callable[[int], int]


@dataclass(frozen=True)
class Move:
    """A call whose tensors `parts` are bytes of its tensor `whole`."""

    index: int  # of the instruction
    whole: int  # value
    parts: Mapping[int, int]  # value -> where it starts in the whole, in bytes
    joins: bool  # it makes the whole of the parts, not the parts of the whole


def of(
    method: Method,
    program: Program,
    here: Computer,
    names: frozenset[str],
    variable: frozenset[int],
) -> list[Move]:
    """Calls of the operators `names` with fixed arguments, where one tensor is made of
    bytes of the other, or made of all the others."""
    known = effects.of(method, here.known)
    calls = {
        index: call
        for index, name, call in method.kernel_calls()
        if name.rpartition(".")[0] in names
        and _is_fixed(method, call, known[index], variable)
    }
    if not calls:
        return []
    alike: dict[_Form, list[int]] = {}  # calls by form, of which the first is run
    for index, call in calls.items():
        alike.setdefault(_form(method, call), []).append(index)
    first = {group[0]: calls[group[0]] for group in alike.values()}
    seen = [_Probe(method, first, known, seed) for seed in range(_PATTERNS)]
    results = here.run(
        [(Executable.of(probe.program(program)), _RUN) for probe in seen]
    )
    moves = []
    for index, *others in alike.values():
        joins = method.operators[calls[index].op_index].name in JOINING
        matches = [
            probe.match(index, result, joins)
            for probe, result in zip(seen, results, strict=True)
        ]
        same = _agreed(matches)
        if same:
            move = Move(index, *same, joins)
            moves += [move, *(_moved(method, move, other) for other in others)]
    return sorted(moves, key=lambda item: item.index)


_RUN = (Run("forward", (), ()),)
# (whole, part) -> every place where the bytes of the part are found
_Match = Mapping[tuple[int, int], frozenset[int]]


def _is_fixed(
    method: Method, call: types.KernelCall, effect: Effects, variable: frozenset[int]
) -> bool:
    """Whether shapes and arguments are the same in all runs."""
    tensors = {*effect.reads, *effect.writes}
    for index in call.args:
        value = method.values[index]
        if isinstance(value, types.IntList) and variable & set(value.items):
            return False
        scalar = not isinstance(value, types.Tensor | types.TensorList)
        if scalar and index in variable:
            return False
    return not effect.updates and all(
        not _tensor(method, operand).is_dynamic and _tensor(method, operand).nbytes > 0
        for operand in tensors
    )


# ---- calls that differ only in where their values lie -----------------------------

_Form = tuple[types.Operator, tuple[int, ...], tuple[object, ...]]


def _arguments(method: Method, call: types.KernelCall) -> list[int]:
    """The values of a call in the order in which it names them, each once."""
    arguments: dict[int, None] = {}
    for index in call.args:
        arguments[index] = None
        value = method.values[index]
        if isinstance(value, types.TensorList | types.IntList):
            arguments.update(dict.fromkeys(value.items))
    return list(arguments)


def _form(method: Method, call: types.KernelCall) -> _Form:
    """What decides which bytes go where: equal in calls of one operator whose values
    are alike but for their content."""
    arguments = _arguments(method, call)
    number = {value: place for place, value in enumerate(arguments)}
    return (
        method.operators[call.op_index],
        tuple(number[value] for value in call.args),
        tuple(_kind(method.values[value], number) for value in arguments),
    )


def _kind(value: types.Value, number: Mapping[int, int]) -> object:
    if isinstance(value, types.Tensor):
        return value.dtype, value.sizes, value.dim_order
    if isinstance(value, types.TensorList | types.IntList):
        return type(value), tuple(number[item] for item in value.items)
    return value


def _moved(method: Method, like: Move, index: int) -> Move:
    """What another call of the same form moves."""
    calls = method.instructions[like.index], method.instructions[index]
    pairs = (
        _arguments(method, other)
        for other in calls
        if isinstance(other, types.KernelCall)
    )
    mine = dict(zip(*pairs, strict=True))
    parts = {mine[part]: start for part, start in like.parts.items()}
    return Move(index, mine[like.whole], parts, like.joins)


def _tensor(method: Method, value: int) -> types.Tensor:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor)
    return tensor


def _agreed(matches: Sequence[_Match]) -> tuple[int, dict[int, int]] | None:
    """The one place of every part that all patterns allow."""
    places: dict[tuple[int, int], frozenset[int]] = dict(matches[0])
    for match_ in matches[1:]:
        for pair in places:
            places[pair] &= match_.get(pair, frozenset())
    if not places or any(len(starts) != 1 for starts in places.values()):
        return None
    whole = next(iter(places))[0]
    return whole, {part: min(starts) for (_, part), starts in places.items()}


class _Probe:
    """The calls with random bytes for what they read, each with tensors of its own."""

    def __init__(
        self,
        method: Method,
        calls: Mapping[int, types.KernelCall],
        known: Sequence[Effects],
        seed: int,
    ) -> None:
        self.method = method
        self.known = known
        self.random = np.random.default_rng(seed)
        self.values: list[types.Value] = []
        self.constants: list[bytes] = [b""]
        self.size = 0
        self.outputs: list[int] = []
        self.place: dict[tuple[int, int], int] = {}  # call, value -> number of output
        self.content: dict[tuple[int, int], bytes] = {}  # call, value
        self.calls = [self._call(index, call) for index, call in calls.items()]

    def program(self, like: Program) -> Program:
        method = replace(
            self.method,
            name="forward",
            values=tuple(self.values),
            inputs=(),
            outputs=tuple(self.outputs),
            chains=(types.Chain(tuple(self.calls)),),
            delegates=(),
            planned_sizes=(0, self.size),
            planned_devices=(),
            containers=None,
        )
        return trimmed(
            replace(
                like,
                methods=(method,),
                constants=tuple(self.constants),
                mutable_data=(),
                named_data=(),
            )
        )

    def _call(self, index: int, call: types.KernelCall) -> types.KernelCall:
        numbers: dict[int, int] = {}

        def number(value: int) -> int:
            if value not in numbers:
                numbers[value] = self._copy(index, value, number)
            return numbers[value]

        return replace(call, args=tuple(map(number, call.args)))

    def _copy(self, index: int, value: int, number: _Number) -> int:
        value_ = self.method.values[value]
        if isinstance(value_, types.TensorList | types.IntList):
            value_ = replace(value_, items=tuple(map(number, value_.items)))
        elif isinstance(value_, types.Tensor):
            value_ = self._own(index, value, value_)
        self.values.append(value_)
        if (index, value) in self.place:
            self.outputs.append(len(self.values) - 1)
        return len(self.values) - 1

    def _own(self, index: int, value: int, tensor: types.Tensor) -> types.Tensor:
        if value not in self.known[index].writes:
            self.content[index, value] = content = self._bytes(tensor)
            self.constants.append(content)
            number = len(self.constants) - 1
            return replace(tensor, data_index=number, allocation=None, extra=None)
        allocation = types.Allocation(1, self.size)
        self.size += -(-tensor.nbytes // ALIGN) * ALIGN
        self.place[index, value] = len(self.outputs)
        return replace(tensor, data_index=0, allocation=allocation, extra=None)

    def _bytes(self, tensor: types.Tensor) -> bytes:
        most = 2 if tensor.dtype is DType.BOOL else 128  # no NaN, whose bits may change
        return self.random.integers(0, most, tensor.nbytes).astype(np.uint8).tobytes()

    # ---- what came out ---------------------------------------------------------------

    def match(self, index: int, result: batch.Result | None, joins: bool) -> _Match:
        """Where the bytes of parts are in the whole; nothing where one is missing."""
        if result is None or result.status != batch.OK:
            return {}
        effect = self.known[index]
        values = result.outputs[0].values
        written = {
            target: values[self.place[index, target]] for target in effect.writes
        }
        contents = {source: self.content[index, source] for source in effect.reads}
        contents |= {
            target: value.data
            for target, value in written.items()
            if isinstance(value, TensorValue)
        }
        wholes, parts = (
            (effect.writes, effect.reads) if joins else (effect.reads, effect.writes)
        )
        if len(wholes) != 1:
            return {}
        (whole,) = wholes
        if joins and sum(len(contents[source]) for source in parts) != len(
            contents[whole]
        ):
            return {}
        step = _tensor(self.method, whole).dtype.itemsize
        return {
            (whole, part): frozenset(_places(contents[part], contents[whole], step))
            for part in parts
        }


def _places(part: bytes, whole: bytes, step: int) -> Iterator[int]:
    at = whole.find(part)
    while at >= 0:
        if at % step == 0:
            yield at
        at = whole.find(part, at + 1)
