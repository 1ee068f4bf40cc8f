"""A model and its selection become a plan: how large each memory region is, and where.

A region goes to its home (memories.py chose it); without one, to the first memory of
the board that may hold it and has room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ember import linker, program, trim
from ember.boards import Board, Memory, Role
from ember.errors import SdkError, problem_list
from ember.model import Model
from ember.program import Method, Program
from ember.selection import Selection

ALIGN = 16  # EMBER_ALIGN
# What the plan leaves for what only the link knows.
_RESERVED: dict[Role, int] = {"data": 2 * 1024, "code": 64 * 1024}
_PLANNED: Role = "planned"
_WEIGHTS: Role = "weights"
VIEWS = frozenset({"executorch_prim::et_view.default"})


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
        """Bytes of the memory that nothing else has."""
        return self.size - self.lent


@dataclass(frozen=True)
class Home:
    """Where a region goes."""

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


@dataclass(frozen=True)
class MethodPlan:
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
        found = [self.temp] if self.temp else []
        for one in self.methods:
            found += [
                r for r in (one.arena, *one.planned, *one.inputs, *one.outputs) if r
            ]
        return list({region.name: region for region in found}.values())

    @property
    def method_arena(self) -> int:
        return sum(one.arena.size for one in self.methods if one.arena)

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


def room(board: Board, reserve: Mapping[str, int] | None = None) -> dict[str, int]:
    """Bytes of each memory without what only the link knows, and without `reserve`."""
    free = {memory.name: memory.size for memory in board.memories}
    where = linker.place(board)
    for role, size in _RESERVED.items():
        if board.memory(where[role]).size > 2 * size:
            free[where[role]] -= size
    for name, size in (reserve or {}).items():
        free[name] -= size
    return free


@dataclass(frozen=True)
class Shortage:
    """Memory that does not fit where it belongs; sizes are bytes."""

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
            f"{self.purpose} needs {self.needed} bytes, {self.over} more than memory"
            f" {self.memory} has left ({self.free} of {self.capacity})"
        )


class NoRoomError(SdkError):
    """Models do not fit a board."""

    def __init__(self, names: str, board: Board, shortages: Sequence[Shortage]) -> None:
        super().__init__(
            problem_list(
                f"{names} does not fit {board.name}", list(map(str, shortages))
            ),
            hint="see `ember plan` for what makes the peak, and which boards would fit",
        )
        self.shortages = tuple(shortages)


class _Placer:
    """Hands out the room of a board's memories, and keeps what does not fit."""

    def __init__(self, board: Board, stack: int, homes: Homes) -> None:
        self.board = board
        self.stack = stack
        self.homes = homes
        self.model = 0  # whose regions are placed
        self.common: dict[tuple[int, str], Region] = {}  # by model and own name
        self.free = room(board, homes.reserve)
        where = Home(linker.place(board, {"stack": stack})["stack"])
        self.stack_memory = homes.of.get((0, "stack"), where).memory
        self.free[self.stack_memory] -= stack
        self.shortages: list[Shortage] = []

    def place(self, role: Role, size: int, purpose: str, name: str = "") -> str:
        """The memory for `size` bytes; a problem is noted when there is none."""
        candidates = self.board.memories_for(role) or self.board.memories_for("data")
        home = self.homes.of.get((self.model, name))
        if home is not None:
            candidates = (self.board.memory(home.memory),)
        elif role != "weights":
            allowed = [one for one in candidates if one.name not in self.homes.forbid]
            candidates = tuple(allowed) or candidates
        size = _up(size, ALIGN)
        for memory in candidates:
            if size <= self.free[memory.name]:
                self.free[memory.name] -= size
                return memory.name
        roomiest = max(candidates, key=lambda memory: self.free[memory.name])
        self.shortages.append(self._shortage(purpose, size, roomiest))
        return roomiest.name

    def _shortage(self, purpose: str, size: int, memory: Memory) -> Shortage:
        free = max(self.free[memory.name], 0)
        return Shortage(purpose, memory.name, memory.size, free, size)

    def region(self, name: str, role: Role, size: int, purpose: str) -> Region:
        if common := self.common.get((self.model, name)):
            return common
        align = self.homes.of.get((self.model, name), Home("")).align
        if align > ALIGN:  # nothing else in its last line of a cache
            size = _up(size, align)
        memory = self.place(role, size, purpose, name)
        return Region(name, role, size, memory, purpose, align)


def make(
    model: Model,
    selection: Selection,
    board: Board,
    *,
    stack: int = linker.DEFAULT_STACK,
    caller_io: bool = False,
) -> Plan:
    """Place the model and the memory of the selection's methods on `board`.

    With `caller_io` the application lends memory for inputs and outputs that the
    program does not plan. SdkError that names what does not fit, and by how much.
    """
    pairs = [(model, selection)]
    return make_all(pairs, board, stack=stack, caller_io=caller_io)[0]


def make_all(
    pairs: Sequence[tuple[Model, Selection]],
    board: Board,
    *,
    stack: int = linker.DEFAULT_STACK,
    caller_io: bool = False,
    homes: Homes | None = None,
    lent: int = 0,
) -> list[Plan]:
    """Place several models side by side; they share scratch, and what is exclusive.

    The last `lent` bytes of the only model may be used again, by scratch.
    """
    placer = _Placer(board, stack, homes or Homes())
    weights, arenas = [], []
    for placer.model, (model, selection) in enumerate(pairs):
        size = model_bytes(model)
        weights.append(placer.place("weights", size, "the model", "weights"))
        arenas.append(_arenas(selection, placer))
    placer.model = 0
    temp = None
    scratch = max(selection.scratch for _, selection in pairs)
    if scratch:
        end = _up(len(pairs[0][0].content), ALIGN)
        temp = _scratch(placer, scratch, weights[0], range(end - lent, end))
        temp = replace(temp, shared=len(pairs) > 1)
    _place_common(pairs, placer)
    plans = []
    for placer.model, (model, _) in enumerate(pairs):
        methods, where = arenas[placer.model], weights[placer.model]
        plans.append(_place(model, methods, placer, where, caller_io))
    if len(plans) > 1:
        plans = [
            _named(plan, model.identifier)
            for plan, (model, _) in zip(plans, pairs, strict=True)
        ]
    names = ", ".join(model.name for model, _ in pairs)
    if placer.shortages:
        raise NoRoomError(names, board, placer.shortages)
    return [replace(plan, temp=temp) for plan in plans]


def _scratch(placer: _Placer, size: int, weights: str, lent: range) -> Region:
    """The region of scratch; in memory `weights` it begins in the `lent` bytes at the
    end of the model."""
    align = placer.homes.of.get((0, "ember_temp"), Home("")).align
    start = max(_up(lent.start, align), (lent.stop - size) // align * align)
    inside = min(max(lent.stop - start, 0), size) if lent else 0
    placer.free[weights] += inside
    purpose = "scratch of the largest node"
    found = placer.region("ember_temp", "temp", size, purpose)
    if found.memory == weights:
        return replace(found, lent=inside)
    placer.free[weights] -= inside
    return found


def _up(size: int, step: int) -> int:
    return -(-size // step) * step


def _place_common(pairs: Sequence[tuple[Model, Selection]], placer: _Placer) -> None:
    """One region for the methods of a group in each memory, as large as the largest.

    A method has one region of activations in each memory: memories.py sees to that.
    """
    homes = placer.homes
    number = 0
    for group in homes.exclusive:
        spots: dict[str, dict[tuple[int, str], int]] = {}  # sizes by memory and region
        for index, (model, chosen) in enumerate(pairs):
            for name, key, size in _activation_regions(model, chosen, index):
                if (index, name) in group and key in homes.of:
                    spots.setdefault(homes.of[key].memory, {})[key] = size
        for memory, sizes in spots.items():
            if len(sizes) < 2:
                continue
            key = (placer.model, f"ember_activations_{number}")
            align = max(homes.of[one].align for one in sizes)
            placer.homes = replace(homes, of={**homes.of, key: Home(memory, align)})
            purpose = "activations of methods that never run together"
            region = placer.region(key[1], _PLANNED, max(sizes.values()), purpose)
            placer.common |= dict.fromkeys(sizes, replace(region, shared=True))
            number += 1
    placer.homes = homes


def _activation_regions(
    model: Model, chosen: Selection, index: int
) -> Iterator[tuple[str, tuple[int, str], int]]:
    """Method, region and bytes of what holds nothing from one run to the next."""
    for prefix, method in zip(prefixes(chosen.methods), chosen.methods, strict=True):
        found = model.replanned.get(method.name)
        for number in found.packed if found and not found.has_state else ():
            size = method.planned_sizes[number]
            if size > 0:
                yield method.name, (index, f"{prefix}_planned_{number}"), size


def kept_apart(pairs: Sequence[tuple[Model, Selection]], homes: Homes) -> Iterator[str]:
    """A sentence on each exclusive method that shares nothing."""
    for index, name in sorted(frozenset[tuple[int, str]]().union(*homes.exclusive)):
        model, chosen = pairs[index]
        found = model.replanned.get(name)
        built = name in [method.name for method in chosen.methods]
        if built and found and found.has_state:
            yield (
                f"{model.name}/{name} keeps state from run to run:"
                " its activations share no memory with other methods"
            )


def to_json(plans: Sequence[Plan]) -> dict[str, Any]:
    """What one plan says, or what several together say."""
    if len(plans) == 1:
        return plans[0].to_json()
    found = [plan.to_json() for plan in plans]
    first = found[0]
    counted: dict[str, int] = dict.fromkeys((m["name"] for m in first["memories"]), 0)
    for one in found:
        for memory in one["memories"]:
            counted[memory["name"]] += memory["used"]
    counted[plans[0].stack_memory] -= sum(plan.stack for plan in plans[1:])
    shared = [region for plan in plans for region in plan.regions if region.shared]
    once = {region.name: region for region in shared}
    for region in shared:
        counted[region.memory] -= region.size
    for region in once.values():
        counted[region.memory] += region.size
    return first | {
        "memories": [one | {"used": counted[one["name"]]} for one in first["memories"]],
        "method_arena": sum(one["method_arena"] for one in found),
        "models": found,
    }


def _named(plan: Plan, prefix: str) -> Plan:
    """The plan with region names that no other model's plan has."""

    def renamed(region: Region | None) -> Region | None:
        if region is None or region.shared:
            return region
        return replace(region, name=f"{prefix}_{region.name}")

    methods = tuple(
        replace(
            one,
            arena=renamed(one.arena),
            planned=tuple(map(renamed, one.planned)),
            inputs=tuple(map(renamed, one.inputs)),
            outputs=tuple(map(renamed, one.outputs)),
        )
        for one in plan.methods
    )
    return replace(plan, methods=methods)


def model_bytes(model: Model) -> int:
    return len(model.content) + sum(map(len, model.data))


def _place(
    model: Model,
    arenas: Sequence[tuple[Method, Region | None]],
    placer: _Placer,
    weights: str,
    caller_io: bool,
) -> Plan:
    methods = []
    names = prefixes([method for method, _ in arenas])
    shared = {
        number: placer.region(
            f"shared_planned_{number}", "planned", size, f"planned memory {number}"
        )
        for number, size in shared_memories(model, [one for one, _ in arenas]).items()
    }
    for prefix, (method, arena) in zip(names, arenas, strict=True):
        replanned = model.replanned.get(method.name)
        copied = replanned.copied if replanned else ()
        planned = _planned(prefix, method, placer, shared, copied)
        inputs = unbound_inputs(method, caller_io)
        outputs = unbound_outputs(method, caller_io)
        methods.append(
            MethodPlan(
                method,
                arena,
                planned,
                _lent(f"{prefix}_input", method, inputs, placer),
                _lent(f"{prefix}_output", method, outputs, placer),
            )
        )
    return Plan(
        board=placer.board,
        stack=placer.stack,
        stack_memory=placer.stack_memory,
        methods=tuple(methods),
        temp=None,
        weights=weights,
        model_bytes=model_bytes(model),
        constants=_constants(model),
        activations=_activations(model, [method for method, _ in arenas]),
    )


def _constants(model: Model) -> dict[str, int]:
    """Bytes in the image, taken out as unused or equal, and in it for nothing."""
    constants = model.program.constants
    unused = model.program.unused_constants()
    before = model.stock or model.program
    copied = _states(model.program) - _states(before)
    needed = sum(map(len, trim.trimmed(before).constants))
    dead = sum(len(constants[index]) for index in unused)
    return {
        "bytes": sum(map(len, constants)) + copied - dead,
        "dropped": sum(map(len, before.constants)) - needed,
        "unreferenced": dead,
        "copied": copied,  # to other memory, when a method is loaded
    }


def _states(one: Program) -> int:
    """Bytes that the image holds to fill planned memory with."""
    return sum(len(piece) for segment in one.mutable_data for piece in segment)


def _activations(model: Model, methods: Sequence[Method]) -> dict[str, int]:
    """Bytes of the memory that programs plan: ours, the least possible, theirs."""
    found = [model.replanned.get(method.name) for method in methods]
    pairs = list(zip(methods, found, strict=True))
    return {
        "planned": sum(p.planned if p else m.planned_bytes for m, p in pairs),
        "lower_bound": sum(p.lower_bound if p else m.planned_bytes for m, p in pairs),
        "stock": sum(p.stock if p else m.planned_bytes for m, p in pairs),
    }


def prefixes(methods: Sequence[Method]) -> list[str]:
    """A C identifier per method; numbered where names collide."""
    found: list[str] = []
    for index, method in enumerate(methods):
        text = re.sub(r"\W", "_", method.name, flags=re.ASCII) or "method"
        text = text if text[0].isalpha() else f"m_{text}"
        found.append(text if text not in found else f"{text}_{index}")
    return found


def _arenas(
    selection: Selection, placer: _Placer
) -> list[tuple[Method, Region | None]]:
    if selection.prepared:
        return [(method, None) for method in selection.methods]
    return [
        (
            method,
            placer.region(
                f"{prefix}_arena",
                "method",
                max(needs.arena, ALIGN),
                f"the method arena of {method.name}",
            ),
        )
        for prefix, method, needs in zip(
            prefixes(selection.methods),
            selection.methods,
            selection.needs,
            strict=True,
        )
    ]


def shared_memories(model: Model, methods: Sequence[Method]) -> dict[int, int]:
    """Bytes, by id, of memories in which several methods of a model keep state."""
    found: dict[int, int] = {}
    for method in methods if len(methods) > 1 else ():
        replanned = model.replanned.get(method.name)
        own = (*replanned.packed, *replanned.copied) if replanned else ()
        for number, size in enumerate(method.planned_sizes):
            if replanned and number > 0 and number not in own and size:
                found[number] = max(found.get(number, 0), size)
    return found


def _planned(
    prefix: str,
    method: Method,
    placer: _Placer,
    shared: Mapping[int, Region],
    copied: Sequence[int],
) -> tuple[Region | None, ...]:
    """One region per planned memory; the largest is placed first. Those of the ids
    in `copied` are for copies of constants."""
    ids = range(1, len(method.planned_sizes))
    placed = dict(shared)
    for number in sorted(ids, key=lambda one: (-method.planned_sizes[one], one)):
        size = method.planned_sizes[number]
        if size > 0 and number not in shared:
            name = f"{prefix}_planned_{number}"
            purpose, role = f"planned memory {number} of {method.name}", _PLANNED
            if number in copied:
                purpose, role = f"copies of constants of {method.name}", _WEIGHTS
            placed[number] = placer.region(name, role, size, purpose)
    return tuple(placed.get(number) for number in ids)


def unbound_inputs(method: Method, caller_io: bool) -> list[int | None]:
    """Per input the value that needs memory, or None."""
    seen: set[int] = set()
    return [_unbound(method, index, seen, caller_io) for index in method.inputs]


def unbound_outputs(method: Method, caller_io: bool) -> list[int | None]:
    """The same for outputs."""
    seen = {*method.inputs, *_viewed(method)}
    return [_unbound(method, index, seen, caller_io) for index in method.outputs]


def _unbound(method: Method, index: int, seen: set[int], caller_io: bool) -> int | None:
    value = method.values[index]
    unbound = isinstance(value, program.Tensor) and value.role == "unbound"
    if caller_io or not unbound or index in seen:
        return None
    seen.add(index)
    return index


def _lent(
    name: str, method: Method, wanted: Sequence[int | None], placer: _Placer
) -> tuple[Region | None, ...]:
    """Regions for the tensors that the program leaves to the caller."""
    found: list[Region | None] = []
    for number, index in enumerate(wanted):
        value = method.values[index] if index is not None else None
        region = None
        if isinstance(value, program.Tensor):
            purpose = f"{name.rsplit('_', 1)[1]} {number} of {method.name}"
            size = max(value.nbytes, 1)
            region = placer.region(f"{name}_{number}", "io", size, purpose)
        found.append(region)
    return tuple(found)


def _viewed(method: Method) -> Iterable[int]:
    """Values that a view points at other memory."""
    for _, name, call in method.kernel_calls():
        if name in VIEWS:
            yield call.args[-1]
