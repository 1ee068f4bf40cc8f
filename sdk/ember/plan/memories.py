"""Packed models and a board become models that are spread over its memories.

Every storage, constant and block of working memory goes where its accesses cost least,
as far as there is room: how often it is accessed (traffic.py) times what the board says
of an access. Constants are used where the model lies unless a copy, made when a method
is loaded, pays. Of several methods the one with most traffic comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from ember.boards import Board, Memory, Role
from ember.errors import SdkError, problem_list
from ember.model.steering import Steering
from ember.plan import placements, regions, room
from ember.plan.improved import Chosen, Improved
from ember.plan.offsets import spread as search
from ember.plan.offsets.buffers import Buffer, Moments
from ember.plan.placements import Copy
from ember.plan.replan import Ids, PlacedStorage
from ember.plan.room import Home, Homes
from ember.plan.traffic import Traffic
from ember.plan.uses import RefusedError, Region, Use
from ember.select.rules import Rules

_STACK_PART = 8  # reads of tensors for three of the stack, and one write of it
_EVEN = 64  # costs are kept in integers, above ties
_SLACK = 1024  # bytes that a file may grow by when constants become states
_FREE_PART = 4  # copies leave a quarter of the application's memory free


class NoRoomByRulesError(SdkError):
    """The rules of a project leave a piece no memory with room."""


@dataclass(frozen=True)
class Spread:
    """Models and their selections, with the memory of each of their regions."""

    pairs: list[Chosen]
    homes: Homes = field(default_factory=Homes)
    facts: dict[str, Any] = field(default_factory=dict)  # for the plan's JSON
    copies: tuple[Copy, ...] = ()  # of constants


def spread(
    pairs: Sequence[Chosen],
    board: Board,
    rules: Rules,
    steering: Steering,
    *,
    stack: int,
    caller_io: bool,
    linked: Mapping[str, int] | None = None,
) -> Spread:
    """`pairs` over the memories of `board`; as they are where there is no choice.

    `linked` are bytes by memory of code and variables, a guess when None. SdkError when
    `steering` names what the board or a model does not have.
    """
    steering.check(board, [model for model, _ in pairs])
    choice = [memory for memory in board.memories if memory.writable]
    if len(choice) < 2 and not steering and len(board.memories) < 2:
        return Spread(list(pairs))
    refused = frozenset[tuple[int, int]]()
    while True:
        spreader = _Spreader(
            list(pairs), board, rules, steering, stack, caller_io, linked
        )
        spreader.refused = refused
        try:
            return spreader.made()
        except RefusedError as error:
            refused |= error.constants


@dataclass(frozen=True)
class Movable:
    """What is to be placed: a block, a storage of a method, or a constant of one."""

    name: str  # for people
    buffer: Buffer
    traffic: Traffic
    allowed: frozenset[str]  # memories
    home: Region | None = None  # of a block
    storage: PlacedStorage | None = None
    constant: int | None = None  # its data


class _Spreader:
    def __init__(
        self,
        pairs: list[Chosen],
        board: Board,
        rules: Rules,
        steering: Steering,
        stack: int,
        caller_io: bool,
        linked: Mapping[str, int] | None,
    ) -> None:
        self.pairs = pairs
        self.board = board
        self.rules = rules
        self.steering = steering
        self.stack = stack
        self.caller_io = caller_io
        self.memories = board.memories
        self.refused = frozenset[tuple[int, int]]()  # constants that stay
        self.room = room.of(board, steering.reserve, linked)
        self.homes: dict[Region, Home] = {}
        self.costs: dict[str, dict[str, int]] = {
            memory.name: {"accessed": 0, "cycles": 0} for memory in self.memories
        }
        self.accessed: dict[str, int] = {}  # bytes, by class
        self.pieces: list[placements.CostPiece] = []
        self.copies: list[Copy] = []
        self.groups = steering.groups([model for model, _ in pairs])
        # Bytes by memory that each group has.
        self.common: list[dict[str, int]] = [{} for _ in self.groups]

    def made(self) -> Spread:
        for number, (model, _) in enumerate(self.pairs):
            self._home_of_model(number, model)
        uses = [
            Use(model, chosen, number, self.rules)
            for number, (model, chosen) in enumerate(self.pairs)
        ]
        methods = [(use, name) for use in uses for name in use.traffic]
        methods.sort(key=lambda pair: -pair[0].total(pair[1]))
        blocks = self._blocks(uses)
        for use, name in methods:
            self._method(use, name, blocks)
            blocks = []
        pairs = [use.pair(self.board, self.rules) for use in uses]
        asked = self.steering
        homes = Homes(self.homes, asked.reserve, asked.forbid, self.groups)
        facts = {"memories": self.costs, "classes": self.accessed}
        facts |= {"placements": placements.costs_to_json(self.pieces)}
        return Spread(pairs, homes, facts, tuple(self.copies))

    # ---- what there is -----------------------------------------------------------

    def _allowed(self, role: Role, wishes: Iterable[str]) -> frozenset[str]:
        """Memories for a role that are neither forbidden nor excluded by a wish."""
        holds = self.board.memories_for(role) or self.board.memories_for("data")
        names = {memory.name for memory in holds} - set(self.steering.forbid)
        for wish in wishes:
            names &= set(self.steering.place.get(wish, names))
        return frozenset(names)

    def _home_of_model(self, number: int, model: Improved) -> None:
        size = regions.model_bytes(model) + _SLACK
        allowed = self._allowed("weights", ())
        wish = self.steering.place.get("constants", ())
        preferred = [wished for wished in wish if wished in allowed]
        able = [
            option for option in self.memories if option.name in (preferred or allowed)
        ]
        for memory in sorted(able, key=lambda option: option.cycles(4)):
            if self.room[memory.name] >= size:
                self.room[memory.name] -= size
                self.homes[number, "weights"] = Home(memory.name)
                return

    def _blocks(self, uses: Sequence[Use]) -> list[Movable]:
        """Stack, scratch, arenas, and what the program leaves to the caller."""
        total = sum(use.total(name) for use in uses for name in use.traffic)
        share = total // _STACK_PART
        of_stack = Traffic({4: 3 * share}, {4: share})
        parts = [self._block("stack", "stack", (0, "stack"), self.stack, of_stack)]
        scratch = max(chosen.scratch for _, chosen in self.pairs)
        used = Traffic()
        for use in uses:
            used.add(use.scratch)
        parts.append(self._block("temp", "scratch", (0, "ember_temp"), scratch, used))
        for use in uses:
            for name, role, wish, size, accesses in use.blocks(self.caller_io):
                parts.append(self._block(role, wish, name, size, accesses))
        return [part for part in parts if part.buffer.size > 0]

    def _block(
        self,
        role: Role,
        wish: str,
        home: Region,
        size: int,
        accesses: Traffic,
    ) -> Movable:
        align = self.steering.align_of(wish)
        buffer = Buffer(-(-size // align) * align, frozenset({0}), align)
        allowed = self._allowed(role, (wish,))
        return Movable(f"{wish} ({home[1]})", buffer, accesses, allowed, home)

    def _storages(self, use: Use, name: str) -> list[Movable]:
        replanned = use.replanned(name)
        method = replanned.method
        blocks = []
        for placed in replanned.placed:
            wishes = self.steering.wishes(use.model, method, placed.storage.values)
            align = max(self.steering.align_of(wish) for wish in wishes[:1])
            size = -(-placed.storage.size // align) * align
            buffer = Buffer(size, placed.storage.points, align)
            accesses = Traffic()
            for value in placed.storage.values:
                accesses.add(use.traffic[name].get(value, Traffic()))
            allowed = self._allowed("planned", wishes)
            title = f"{wishes[0]} (value {min(placed.storage.values)} of {name})"
            blocks.append(Movable(title, buffer, accesses, allowed, storage=placed))
        return blocks

    def _constants(self, use: Use, name: str, points: Set[int]) -> list[Movable]:
        """Constants that may be copied: those that only kernels of this method read."""
        if self._memory_of(use) is None:
            return []
        align = self.steering.align_of("constants")
        blocks = []
        for index, accesses in use.constants(name).items():
            if (use.number, index) in self.refused:
                continue
            size = len(use.model.program.constants[index])
            buffer = Buffer(-(-size // align) * align, points, align)
            allowed = self._allowed("planned", ("constants",))
            title = f"constants (number {index})"
            blocks.append(Movable(title, buffer, accesses, allowed, constant=index))
        return blocks

    def _memory_of(self, use: Use) -> str | None:
        """Of the model's bytes."""
        home = self.homes.get((use.number, "weights"))
        return home.memory if home else None

    def _wished(self, wish: str) -> frozenset[str]:
        return frozenset(self.steering.place.get(wish, (m.name for m in self.memories)))

    # ---- where it goes -----------------------------------------------------------

    def _method(self, use: Use, name: str, blocks: list[Movable]) -> None:
        """Place one method's storages and constants, with `blocks`."""
        storages = self._storages(use, name)
        points = Moments().union(*(storage.buffer.points for storage in storages))
        constants = self._constants(use, name, points or frozenset({0}))
        common = self._common(use, name)
        constants = [
            replace(block, allowed=block.allowed - common.keys()) for block in constants
        ]
        blocks = [
            replace(
                block, buffer=replace(block.buffer, points=points or frozenset({0}))
            )
            for block in blocks
        ]
        parts = [*blocks, *storages, *constants]
        home = self._memory_of(use) or ""
        assignment = min(
            (
                self._solved(parts, home, common, copies=copies)
                for copies in (False, True)
            ),
            key=lambda candidate: (
                sum(m is None for m in candidate.where),
                candidate.cost,
            ),
        )
        if any(memory is None for memory in assignment.where):
            if self.steering:
                raise self._no_room(parts, assignment)
            return  # the plan says what has no room, and by how much
        self._keep(use, name, parts, assignment)

    def _common(self, use: Use, name: str) -> dict[str, int]:
        """Bytes by memory of methods that never run together with this one: its
        activations may lie there, copies of constants may not."""
        for group, common in zip(self.groups, self.common, strict=True):
            if (use.number, name) in group and not use.replanned(name).has_state:
                return common
        return {}

    def _no_room(
        self, parts: Sequence[Movable], assignment: search.Assignment
    ) -> NoRoomByRulesError:
        problems = [
            f"{part.name} needs {part.buffer.size:,} bytes: no room in"
            f" {' or '.join(sorted(part.allowed)) or 'any memory'}"
            for part, memory in zip(parts, assignment.where, strict=True)
            if memory is None
        ]
        names = ", ".join(model.name for model, _ in self.pairs)
        what = f"{names} does not fit {self.board.name} under the project's rules"
        return NoRoomByRulesError(
            problem_list(what, problems),
            hint="in `memory:` of ember.yaml, allow more memories or reserve less",
        )

    def _solved(
        self,
        parts: Sequence[Movable],
        home: str,
        common: Mapping[str, int],
        *,
        copies: bool,
    ) -> search.Assignment:
        """With `copies`, constants may also be in the application's memory, but then a
        part of it stays free. `common` is room that the method may use again."""
        data = self.board.memories_for("data")[0].name
        free = {name: size + common.get(name, 0) for name, size in self.room.items()}
        if copies:
            free[data] -= free[data] // _FREE_PART
        items = []
        for part in parts:
            allowed = part.allowed
            costs: list[int | None]
            if part.constant is not None and not copies:
                allowed = allowed - {data}
            costs = [
                _cost(part.traffic, memory, 1 + position)
                if memory.name in allowed
                else None
                for position, memory in enumerate(self.memories)
            ]
            stays = part.constant is not None and home in self._wished("constants")
            costs.append(
                _cost(part.traffic, self.board.memory(home)) if stays else None
            )
            items.append(search.Item(part.buffer, tuple(costs), part.storage is None))
        capacities = [max(0, free[memory.name]) for memory in self.memories]
        return search.spread(items, [*capacities, 1 << 50])

    def _keep(
        self,
        use: Use,
        name: str,
        parts: Sequence[Movable],
        assignment: search.Assignment,
    ) -> None:
        """Note where everything goes, and move it there."""
        storages: dict[int, list[tuple[Movable, int]]] = {}  # with offsets, by memory
        constants: dict[int, list[Movable]] = {}
        for part, memory, offset in zip(
            parts, assignment.where, assignment.offsets, strict=True
        ):
            assert memory is not None
            if memory == len(self.memories):  # a constant, where the model lies
                self._note(part, self.board.memory(self._memory_of(use) or ""))
                continue
            self._note(part, self.memories[memory])
            if part.storage is not None:
                storages.setdefault(memory, []).append((part, offset))
            elif part.constant is not None:
                constants.setdefault(memory, []).append(part)
                self.copies.append(self._copy(use, name, part, self.memories[memory]))
            else:
                assert part.home is not None
                self._settle(part.home, memory, part.buffer.size, [part])
        ids = Ids(use.replanned(name))
        common = self._common(use, name)
        for memory, group in sorted(storages.items()):
            pairs = [(item.storage, offset) for item, offset in group if item.storage]
            height = assignment.packed[memory].height
            home = use.home_of(name, ids.add_storages(pairs, height))
            where = self.memories[memory].name
            self.room[where] += common.get(where, 0)
            size = max(height, common.get(where, 0))
            self._settle(home, memory, size, [item for item, _ in group])
            common[where] = size
        for memory, copied in sorted(constants.items()):
            sizes = {
                n: constant.buffer.size
                for constant in copied
                if (n := constant.constant)
            }
            home = use.home_of(name, ids.add_copies(sizes))
            self._settle(home, memory, sum(sizes.values()), copied)
        use.move(name, ids.places())

    def _copy(self, use: Use, name: str, part: Movable, memory: Memory) -> Copy:
        """What is told of a copy in `memory`."""
        assert part.constant is not None
        home = self.board.memory(self._memory_of(use) or "")
        cycles = _cycles(part.traffic, home), _cycles(part.traffic, memory)
        places = home.name, memory.name
        method = use.model.program.method(name)
        assert method is not None
        return placements.copied(use.model.name, method, part.constant, places, cycles)

    def _settle(
        self, home: Region, memory: int, size: int, parts: Sequence[Movable]
    ) -> None:
        name = self.memories[memory].name
        align = max(part.buffer.align for part in parts)
        self.homes[home] = Home(name, align)
        self.room[name] -= -(-size // align) * align

    def _note(self, part: Movable, memory: Memory) -> None:
        table = self.costs[memory.name]
        table["accessed"] += part.traffic.bytes
        kind = part.name.partition(" ")[0]
        self.accessed[kind] = self.accessed.get(kind, 0) + part.traffic.bytes
        table["cycles"] += round(_cycles(part.traffic, memory))
        able = [other for other in self.memories if other.name in part.allowed]
        cycles = {other.name: _cycles(part.traffic, other) for other in (memory, *able)}
        size, accessed = part.buffer.size, part.traffic.bytes
        self.pieces.append(
            placements.CostPiece(kind, memory.name, size, accessed, cycles)
        )


def _cost(accesses: Traffic, memory: Memory, position: int = 0) -> int:
    """What lying there costs; `position` decides where it is the same."""
    return round(_cycles(accesses, memory) * _EVEN) * _EVEN + position


def _cycles(accesses: Traffic, memory: Memory) -> float:
    reads = sum(n * memory.cycles(w) for w, n in accesses.reads.items())
    writes = sum(n * memory.cycles(w, write=True) for w, n in accesses.writes.items())
    return reads + writes
