"""A program and places become the program with its storages and constants there.

A constant that is copied at start-up becomes planned memory with an initial state, that
the runtime, as ExecuTorch's, fills when it loads the method. Its bytes move from the
constants to the initial states: the file holds them once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ember.files.segments import Data
from ember.plan.replan import PlacedStorage, Replanned
from ember.program import Method, Program, types
from ember.program.types import ALIGN


@dataclass(frozen=True)
class Places:
    """Where a method's memory lies: the new ids, sizes and offsets, in bytes."""

    sizes: tuple[int, ...]  # by memory id; [0] is reserved
    placed: tuple[PlacedStorage, ...]
    copies: Mapping[int, types.Allocation] = field(default_factory=dict)  # by data

    @property
    def copied(self) -> tuple[int, ...]:
        """Ids of the memories with copies of constants."""
        return tuple(sorted({copied.memory_id for copied in self.copies.values()}))


class Ids:
    """Hands out memory ids: those of memories that are not planned anew stay."""

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
    """The program whose method `name` lies as `places` says."""
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
        _method(method, places, moved) if method.name == name else method
        for method in program.methods
    )
    mutable = (tuple(states), *program.mutable_data[1:])
    return replace(
        program,
        methods=methods,
        constants=tuple(constants),
        mutable_data=mutable if moved else program.mutable_data,
    )


def _method(method: Method, places: Places, moved: Mapping[int, int]) -> Method:
    spots = {
        value: types.Allocation(placed.memory_id, placed.offset + start)
        for placed in places.placed
        for value, start in placed.storage.values.items()
    }
    values = []
    left = dict(moved)
    for index, item in enumerate(method.values):
        values.append(_value(item, spots.get(index), places, left))
        if isinstance(item, types.Tensor) and item.data_index in moved:
            left[item.data_index] = 0  # copied once, for all values
    return replace(
        method, values=tuple(values), planned_sizes=places.sizes, planned_devices=()
    )


def _value(
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
