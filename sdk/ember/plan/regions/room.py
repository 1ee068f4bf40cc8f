"""A board's memories become room that is handed out, and what does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ember.boards import Board, Memory, Role
from ember.errors import SdkError, problem_list
from ember.plan.regions.regions import Region, rounded
from ember.program.types import ALIGN
from ember.toolchain import linker

# What a plan leaves for code and variables while nothing is linked.
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
    """Bytes of each memory without `reserve`, and without what a link put there beside
    models, regions and the stack: `linked`, by memory; a guess where nothing is."""
    free = {memory.name: memory.size for memory in board.memories}
    for name, size in (guessed(board) if linked is None else linked).items():
        free[name] -= size
    for name, size in (reserve or {}).items():
        free[name] -= size
    return free


def guessed(board: Board) -> dict[str, int]:
    """Bytes by memory that are left for code and variables, where they leave half; and
    for what the boot ROM reads."""
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
        self.common: dict[tuple[int, str], Region] = {}  # by model and own name
        self.free = of(board, homes.reserve, linked)
        where = Home(linker.place(board, {"stack": stack})["stack"])
        self.stack_memory = homes.of.get((0, "stack"), where).memory
        self.free[self.stack_memory] -= stack
        self.shortages: list[RegionShortage] = []

    def place(self, role: Role, size: int, purpose: str, name: str = "") -> str:
        """The memory for `size` bytes; a problem is noted when there is none."""
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
        if align > ALIGN:  # nothing else in its last line of a cache
            size = rounded(size, align)
        memory = self.place(role, size, purpose, name)
        return Region(name, role, size, memory, purpose, align)
