"""A method and its storages become the method with a plan made by the SDK.

replan packs every planned memory by lifetimes; state keeps its content, so memories
with state that several methods share stay as they are. Unused values lose their memory.

relocate moves storages and constants to given places. A constant that is copied at
start-up becomes planned memory with an initial state, which the runtime, like
ExecuTorch's, fills when it loads the method. Its bytes move from the constants to the
initial states: the file holds them once.

trimmed leaves out what is unused, and repeats of equal constants, scalars and lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ember.files.tensors import Data
from ember.kernels import KernelList
from ember.plan import effects, lifetimes, offsets
from ember.plan.lifetimes import Storage
from ember.plan.rows import row_regions
from ember.program import (
    Chain,
    Instruction,
    KernelCall,
    Method,
    Null,
    Program,
    Tensor,
    types,
)
from ember.program.types import (
    ALIGN,
    Bool,
    BoolList,
    Double,
    DoubleList,
    Int,
    IntList,
    String,
    Value,
)


@dataclass(frozen=True)
class PlacedStorage:
    """A storage, and where it starts in a planned memory."""

    storage: Storage
    memory_id: int
    offset: int


@dataclass(frozen=True)
class Replanned:
    """Sizes in bytes, over all planned memories of the method."""

    method: Method
    packed: tuple[int, ...]  # ids of the memories that were packed
    placed: tuple[PlacedStorage, ...]  # all storages in them
    planned: int
    lower_bound: int
    stock: int
    proved: bool  # nothing smaller is possible
    conflict: str | None  # what the exporter's plan destroys
    copied: tuple[int, ...] = ()  # ids of memories with copies of constants

    @property
    def has_state(self) -> bool:
        """Whether a run finds what the last one left in packed memories."""
        return any(placed.storage.is_state for placed in self.placed)


def replan(
    method: Method,
    known: KernelList,
    keep: frozenset[int] = frozenset(),
    *,
    check: bool = True,
) -> Replanned:
    """The method with its memories packed, but for those with the ids of `keep` and
    those in which an output of a region of rows overlaps an input.

    Without `check` the present plan of the method is trusted.
    """
    lives = lifetimes.of(method, known, check=check)
    keep = keep | row_regions.overlapping(method)
    sizes = list(method.planned_sizes)
    moves: dict[int, int] = {}  # value -> offset
    everything: list[PlacedStorage] = []
    bound, proved = 0, True
    for memory in range(1, len(sizes)):
        if memory in keep:
            bound += sizes[memory]
            continue
        group = [item for item in lives.storages if item.memory_id == memory]
        placed = offsets.place([item.buffer() for item in group])
        for storage, offset in zip(group, placed.offsets, strict=True):
            for value, start in storage.values.items():
                moves[value] = offset + start
            everything.append(PlacedStorage(storage, memory, offset))
        bound += placed.lower_bound
        proved = proved and placed.proved
        sizes[memory] = -(-placed.height // ALIGN) * ALIGN
    return Replanned(
        method=replace(
            method,
            values=_values(method, moves, keep),
            planned_sizes=tuple(sizes),
        ),
        packed=tuple(number for number in range(1, len(sizes)) if number not in keep),
        placed=tuple(everything),
        planned=sum(sizes),
        lower_bound=bound,
        stock=method.planned_bytes,
        proved=proved,
        conflict=lives.conflict,
    )


def _values(
    method: Method, moves: Mapping[int, int], keep: frozenset[int]
) -> tuple[types.Value, ...]:
    return tuple(
        _value(value, moves.get(index), keep)
        for index, value in enumerate(method.values)
    )


def _value(value: types.Value, offset: int | None, keep: frozenset[int]) -> types.Value:
    if not isinstance(value, types.Tensor) or value.allocation is None:
        return value
    if value.allocation.memory_id in keep:
        return value
    if offset is None:
        return types.Null()
    return replace(value, allocation=replace(value.allocation, offset=offset))


# ---- storages and constants at given places ------------------------------------------


@dataclass(frozen=True)
class Places:
    """Where a method's memory is: the new ids, sizes and offsets, in bytes."""

    sizes: tuple[int, ...]  # by memory id; [0] is reserved
    placed: tuple[PlacedStorage, ...]
    copies: Mapping[int, types.Allocation] = field(default_factory=dict)  # by data

    @property
    def copied(self) -> tuple[int, ...]:
        """Ids of the memories with copies of constants."""
        return tuple(sorted({copied.memory_id for copied in self.copies.values()}))


class Ids:
    """Hands out memory ids; memories that were not packed keep theirs."""

    def __init__(self, replanned: Replanned) -> None:
        self._sizes = {
            number: size
            for number, size in enumerate(replanned.method.planned_sizes)
            if number > 0 and number not in replanned.packed
        }
        self._placed: list[PlacedStorage] = []
        self._copies: dict[int, types.Allocation] = {}

    def _next(self, size: int) -> int:
        number = next(n for n in range(1, len(self._sizes) + 2) if n not in self._sizes)
        self._sizes[number] = -(-size // ALIGN) * ALIGN
        return number

    def add_storages(
        self, group: Sequence[tuple[PlacedStorage, int]], height: int
    ) -> int:
        """The id of a memory with storages at these offsets, `height` bytes in all."""
        number = self._next(height)
        self._placed += [
            PlacedStorage(placed.storage, number, offset) for placed, offset in group
        ]
        return number

    def add_copies(self, sizes: Mapping[int, int]) -> int:
        """The id of a memory with copies of constants; bytes by data."""
        number = self._next(sum(sizes.values()))
        offset = 0
        for data, size in sizes.items():
            self._copies[data] = types.Allocation(number, offset)
            offset += size
        return number

    def places(self) -> Places:
        count = max(self._sizes, default=0) + 1
        sizes = tuple(self._sizes.get(number, 0) for number in range(count))
        return Places(sizes, tuple(self._placed), self._copies)


def relocate(program: Program, name: str, places: Places) -> Program:
    """The program whose method `name` has its memory as `places` says."""
    first = program.mutable_data[0] if program.mutable_data else (b"",)
    states: list[Data] = list(first)
    moved: dict[int, int] = {}  # constant -> initial state
    for index in places.copies:
        moved[index] = len(states)
        states.append(program.constants[index])
    constants = list(program.constants)
    for index in moved:
        constants[index] = b""
    methods = tuple(
        _relocated_method(method, places, moved) if method.name == name else method
        for method in program.methods
    )
    mutable = (tuple(states), *program.mutable_data[1:])
    return replace(
        program,
        methods=methods,
        constants=tuple(constants),
        mutable_data=mutable if moved else program.mutable_data,
    )


def _relocated_method(
    method: Method, places: Places, moved: Mapping[int, int]
) -> Method:
    spots = {
        value: types.Allocation(placed.memory_id, placed.offset + start)
        for placed in places.placed
        for value, start in placed.storage.values.items()
    }
    values = []
    left = dict(moved)
    for index, item in enumerate(method.values):
        values.append(_relocated(item, spots.get(index), places, left))
        if isinstance(item, types.Tensor) and item.data_index in moved:
            left[item.data_index] = 0  # copied once, for all values
    return replace(
        method, values=tuple(values), planned_sizes=places.sizes, planned_devices=()
    )


def _relocated(
    value: types.Value,
    spot: types.Allocation | None,
    places: Places,
    moved: Mapping[int, int],
) -> types.Value:
    if not isinstance(value, types.Tensor):
        return value
    if value.is_constant and value.data_index in moved:
        return replace(
            value,
            data_index=moved[value.data_index],
            allocation=places.copies[value.data_index],
        )
    return replace(value, allocation=spot) if spot is not None else value


# ---- without what is unused ----------------------------------------------------------


_PLAIN = Null | Int | Bool | Double | String | DoubleList | BoolList


def trimmed(program: Program) -> Program:
    """The program without what is unused. Value indices stay; calls share equal scalars
    and lists, unused values become null, unused operators go, and the others are in the
    order of names, as in a firmware, so that a device finds each at the first look."""
    shared = map(_with_shared, program.methods)
    used = replace(program, methods=tuple(map(_without_unused, shared)))
    places: dict[Data, int] = {}
    moved = {0: 0}
    for index in sorted(used.used_constants()):
        moved[index] = places.setdefault(program.constants[index], len(places) + 1)
    methods = tuple(_with_constants(method, moved) for method in used.methods)
    return replace(used, methods=methods, constants=(b"", *places))


def _with_shared(method: Method) -> Method:
    """Calls name the first of equal constant values in place of the others."""
    fixed = method.used_values() - effects.variable(method)
    first: dict[Value, int] = {}
    same: dict[int, int] = {}
    values = list(method.values)
    for index in sorted(fixed):
        if isinstance(value := values[index], _PLAIN):
            same[index] = first.setdefault(value, index)
    for index in sorted(fixed):
        if isinstance(value := values[index], IntList):
            items = tuple(same.get(item, item) for item in value.items)
            values[index] = IntList(items)
            same[index] = first.setdefault(values[index], index)
    return replace(
        method,
        values=tuple(values),
        chains=tuple(_with_arguments(chain, same) for chain in method.chains),
    )


def _with_arguments(chain: Chain, same: Mapping[int, int]) -> Chain:
    def moved(instruction: Instruction) -> Instruction:
        if isinstance(instruction, KernelCall):
            args = tuple(same.get(arg, arg) for arg in instruction.args)
            return replace(instruction, args=args)
        return instruction

    return replace(chain, instructions=tuple(map(moved, chain.instructions)))


def _without_unused(method: Method) -> Method:
    used = method.used_values()
    called = sorted(
        {call.op_index for _, _, call in method.kernel_calls()},
        key=lambda index: method.operators[index].full_name.encode(),
    )
    numbers = {old: new for new, old in enumerate(called)}
    return replace(
        method,
        values=tuple(
            value if index in used else Null()
            for index, value in enumerate(method.values)
        ),
        chains=tuple(_with_operators(chain, numbers) for chain in method.chains),
        operators=tuple(method.operators[old] for old in called),
    )


def _with_operators(chain: Chain, numbers: Mapping[int, int]) -> Chain:
    def moved(instruction: Instruction) -> Instruction:
        if isinstance(instruction, KernelCall):
            return replace(instruction, op_index=numbers[instruction.op_index])
        return instruction

    return replace(chain, instructions=tuple(map(moved, chain.instructions)))


def _with_constants(method: Method, moved: Mapping[int, int]) -> Method:
    return replace(
        method,
        values=tuple(
            replace(value, data_index=moved[value.data_index])
            if isinstance(value, Tensor) and value.is_constant
            else value
            for value in method.values
        ),
    )
