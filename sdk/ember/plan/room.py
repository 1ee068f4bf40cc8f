"""A plan: regions of memory, by method, and the room of a board's memories for them.

A placer hands out the room of a board's memories and records what does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ember.boards import Board, Memory, Role
from ember.errors import SdkError, problem_list
from ember.program import Method
from ember.program.types import ALIGN
from ember.toolchain import linker


@dataclass(frozen=True)
class Region:
    """Memory for one purpose; `name` is a C identifier, sizes are bytes."""

    name: str
    role: Role
    size: int
    memory: str
    purpose: str  # for people
    align: int = ALIGN
    shared: bool = False  # by models, or by methods that never run together
    lent: int = 0  # its first bytes, which are the last ones of the model, payloads

    @property
    def added(self) -> int:
        """Bytes that it takes of its memory, without those that are lent."""
        return self.size - self.lent


@dataclass(frozen=True)
class MethodPlan:
    prefix: str  # of its regions and macros: a C identifier
    method: Method
    arena: Region | None  # None: it is prepared
    planned: tuple[Region | None, ...]  # by memory id - 1; None: empty
    inputs: tuple[Region | None, ...]  # None: the program plans it, or the caller
    outputs: tuple[Region | None, ...]


@dataclass(frozen=True)
class Plan:
    board: Board
    stack: int
    methods: tuple[MethodPlan, ...]
    temp: Region | None
    weights: str  # the memory of the model
    model_bytes: int
    constants: dict[str, int]
    activations: dict[str, int]
    stack_memory: str = ""

    @property
    def regions(self) -> list[Region]:
        """All regions in RAM."""
        regions = [self.temp] if self.temp else []
        for method in self.methods:
            regions += [
                r
                for r in (
                    method.arena,
                    *method.planned,
                    *method.inputs,
                    *method.outputs,
                )
                if r
            ]
        return list({region.name: region for region in regions}.values())

    @property
    def method_arena(self) -> int:
        return sum(method.arena.size for method in self.methods if method.arena)

    def to_json(self) -> dict[str, Any]:
        used = {memory.name: 0 for memory in self.board.memories}
        for region in self.regions:
            used[region.memory] += region.added
        used[self.weights] += self.model_bytes
        used[self.stack_memory] += self.stack
        return {
            "board": self.board.name,
            "fits": True,
            "memories": [
                {"name": m.name, "capacity": m.size, "used": used[m.name]}
                for m in self.board.memories
            ],
            "regions": [
                {"name": r.name, "role": r.role, "memory": r.memory, "bytes": r.size}
                | ({"lent": r.lent} if r.lent else {})
                for r in self.regions
            ],
            "activations": self.activations,
            "method_arena": self.method_arena,
            "scratch": self.temp.size if self.temp else 0,
            "stack": self.stack,
            "constants": self.constants,
        }


def to_json(plans: Sequence[Plan]) -> dict[str, Any]:
    """What one plan says, or what several together say."""
    if len(plans) == 1:
        return plans[0].to_json()
    facts = [plan.to_json() for plan in plans]
    first = facts[0]
    counted: dict[str, int] = dict.fromkeys((m["name"] for m in first["memories"]), 0)
    for of_plan in facts:
        for memory in of_plan["memories"]:
            counted[memory["name"]] += memory["used"]
    counted[plans[0].stack_memory] -= sum(plan.stack for plan in plans[1:])
    shared = [region for plan in plans for region in plan.regions if region.shared]
    once = {region.name: region for region in shared}
    for region in shared:
        counted[region.memory] -= region.size
    for region in once.values():
        counted[region.memory] += region.size
    return first | {
        "memories": [row | {"used": counted[row["name"]]} for row in first["memories"]],
        "method_arena": sum(plan_facts["method_arena"] for plan_facts in facts),
        "models": facts,
    }


def totals(plans: Sequence[Plan]) -> tuple[int, int]:
    """Bytes of models, and of regions."""
    regions = {region.name: region.size for plan in plans for region in plan.regions}
    return sum(plan.model_bytes for plan in plans), sum(regions.values())


def rounded(size: int, step: int) -> int:
    return -(-size // step) * step


# ---- room of memories ----------------------------------------------------------------


# What a plan leaves for code and variables before the first link.
_RESERVED: dict[Role, int] = {"data": 2 * 1024, "code": 64 * 1024}


@dataclass(frozen=True)
class Home:
    """The memory that a region goes to."""

    memory: str
    align: int = ALIGN


@dataclass(frozen=True)
class Homes:
    """What was decided before: see memories.py and steering.py."""

    # By model and name of the region; "weights" is the model, "stack" of the first
    # model the stack.
    of: Mapping[tuple[int, str], Home] = field(default_factory=dict)
    reserve: Mapping[str, int] = field(default_factory=dict)  # bytes, by memory
    forbid: tuple[str, ...] = ()  # memories
    # Groups of methods that never run together: the number of the model, the name.
    exclusive: tuple[frozenset[tuple[int, str]], ...] = ()


def of(
    board: Board,
    reserve: Mapping[str, int] | None = None,
    linked: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Free bytes of each memory: without `reserve`, and without what a link put there
    beside models, regions and the stack: `linked`, by memory; a guess if None."""
    free = {memory.name: memory.size for memory in board.memories}
    for name, size in (guessed(board) if linked is None else linked).items():
        free[name] -= size
    for name, size in (reserve or {}).items():
        free[name] -= size
    return free


def guessed(board: Board) -> dict[str, int]:
    """Bytes by memory that are left for code and variables, if that is at most half of
    it, and for what the boot ROM reads."""
    places = linker.place(board)
    sizes: dict[str, int] = {}
    if header := linker.header_bytes(board):
        sizes[places["vectors"]] = header
    for role, size in _RESERVED.items():
        name = places[role]
        if board.memory(name).size > 2 * size:
            sizes[name] = sizes.get(name, 0) + size
    return sizes


@dataclass(frozen=True)
class RegionShortage:
    """A region that does not fit where it belongs; sizes are bytes."""

    purpose: str
    memory: str
    capacity: int
    free: int
    needed: int

    @property
    def over(self) -> int:
        return self.needed - self.free

    def __str__(self) -> str:
        return (
            f"{self.purpose} needs {self.needed:,} bytes, {self.over:,} more than"
            f" memory {self.memory} has left ({self.free:,} of {self.capacity:,})"
        )


class NoRoomError(SdkError):
    """Models do not fit a board."""

    def __init__(
        self, names: str, board: Board, shortages: Sequence[RegionShortage]
    ) -> None:
        super().__init__(
            problem_list(
                f"{names} does not fit {board.name}", list(map(str, shortages))
            ),
            hint="`ember plan` shows the peak and which boards fit",
        )
        self.shortages = tuple(shortages)


class Placer:
    """Hands out the room of a board's memories, and keeps what does not fit."""

    def __init__(
        self,
        board: Board,
        stack: int,
        homes: Homes,
        linked: Mapping[str, int] | None = None,
    ) -> None:
        self.board = board
        self.stack = stack
        self.homes = homes
        self.model = 0  # whose regions are placed
        self.common: dict[tuple[int, str], Region] = {}  # by model and name in it
        self.free = of(board, homes.reserve, linked)
        where = Home(linker.place(board, {"stack": stack})["stack"])
        self.stack_memory = homes.of.get((0, "stack"), where).memory
        self.free[self.stack_memory] -= stack
        self.shortages: list[RegionShortage] = []

    def place(self, role: Role, size: int, purpose: str, name: str = "") -> str:
        """The memory for `size` bytes; a shortage is noted if there is none."""
        candidates = self.board.memories_for(role) or self.board.memories_for("data")
        home = self.homes.of.get((self.model, name))
        if home is not None:
            candidates = (self.board.memory(home.memory),)
        elif role != "weights":
            allowed = [
                candidate
                for candidate in candidates
                if candidate.name not in self.homes.forbid
            ]
            candidates = tuple(allowed) or candidates
        size = rounded(size, ALIGN)
        for memory in candidates:
            if size <= self.free[memory.name]:
                self.free[memory.name] -= size
                return memory.name
        roomiest = max(candidates, key=lambda memory: self.free[memory.name])
        self.shortages.append(self._shortage(purpose, size, roomiest))
        self.free[roomiest.name] -= size
        return roomiest.name

    def _shortage(self, purpose: str, size: int, memory: Memory) -> RegionShortage:
        free = max(self.free[memory.name], 0)
        return RegionShortage(purpose, memory.name, memory.size, free, size)

    def region(self, name: str, role: Role, size: int, purpose: str) -> Region:
        if common := self.common.get((self.model, name)):
            return common
        align = self.homes.of.get((self.model, name), Home("")).align
        if align > ALIGN:  # its last cache line is not shared
            size = rounded(size, align)
        memory = self.place(role, size, purpose, name)
        return Region(name, role, size, memory, purpose, align)
