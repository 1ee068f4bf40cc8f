"""An estimate becomes what a run would save with code or data in other memories.

Of each placement that is faster elsewhere: the cycles, the bytes, and whether there is
room. Data is in the cheapest memory as long as there is room, so more savings need more
of that memory. Code moves only where ember.yaml says so; the kernels that are named
save most for their bytes and fit.

Each kernel that the methods call has a cost: its bytes, its instructions in a run of
every method (plan/traffic.py, an estimate), and the cycles that the core waits for
them in each memory for code. Nodes of delegates are not estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ember.boards import Board, Memory
from ember.cycles.estimate import wait_of_instructions
from ember.firmware import layout
from ember.firmware.linking import Estimate
from ember.firmware.stack.code import Members
from ember.model.steering import memories_of_code
from ember.plan import traffic
from ember.plan.placements import CostPiece, costs_to_json
from ember.toolchain import linker

_BYTES = {"armv6-m": 2, "armv7-m": 3, "armv8-m": 3}  # of an instruction, on average
_WORD = 4


@dataclass(frozen=True)
class KernelCost:
    """The code of one kernel, with all that it calls."""

    kernel: str
    memory: str
    bytes: int
    fetched: int  # bytes in a run
    instructions: int  # in a run
    cycles: Mapping[str, float]  # that it is waited for in a run, by memory

    def to_json(self) -> dict[str, Any]:
        cycles = {name: round(waiting) for name, waiting in self.cycles.items()}
        return {
            "kernel": self.kernel,
            "memory": self.memory,
            "bytes": self.bytes,
            "instructions": self.instructions,
            "cycles": cycles.pop(self.memory),
            "elsewhere": cycles,
        }


def code_costs(estimate: Estimate) -> list[KernelCost]:
    """The kernel that waits longest first; none where there is no choice of memories,
    or nothing was linked."""
    able = memories_of_code(estimate.job.board)
    members = members_of(estimate)
    if len(able) < 2 or members is None:
        return []
    places = _places(estimate)
    home = linker.place(estimate.job.board)["code"]
    kernels = [
        _cost(members, kernel, places.get(kernel, home), count, estimate.job.board)
        for kernel, count in _executed(estimate).items()
    ]
    return sorted(kernels, key=lambda cost: (-cost.cycles[cost.memory], cost.kernel))


def members_of(estimate: Estimate) -> Members | None:
    """What is linked; None: nothing was, or its port has no list of it."""
    return estimate.compiled.objects.members if estimate.compiled else None


def code_placements(
    members: Members, kernels: Sequence[KernelCost]
) -> list[dict[str, Any]]:
    """A row for each memory that has code of kernels, as those of data."""
    pieces = [
        CostPiece(layout.CODE, cost.memory, cost.bytes, cost.fetched, cost.cycles)
        for cost in kernels
    ]
    rows = costs_to_json(pieces)
    for row in rows:  # what several of them call counts once
        there = [cost.kernel for cost in kernels if cost.memory == row["memory"]]
        row["bytes"] = layout.moved_size(members, there)
    return rows


def _places(estimate: Estimate) -> dict[str, str]:
    """The memories of kernels that ember.yaml moves."""
    assert estimate.compiled is not None
    return {
        kernel: code.memory
        for code in estimate.compiled.moved
        for kernel in code.kernels
    }


def _executed(estimate: Estimate) -> dict[str, float]:
    """Instructions by kernel, in a run of every method."""
    known, core = estimate.job.options.rules.known, estimate.job.board.core
    executed: dict[str, float] = {}
    for _, selection in estimate.placed.selected.pairs:
        for method, needs in zip(selection.methods, selection.needs, strict=True):
            kernels = {c.instruction: c.kernel for c in needs.calls if c.kernel}
            counts = traffic.instructions(method, known, kernels, core)
            for kernel, count in counts.items():
                executed[kernel] = executed.get(kernel, 0) + count
    return executed


def _cost(
    members: Members, kernel: str, place: str, count: float, board: Board
) -> KernelCost:
    size = _BYTES.get(board.core.arch if board.core else "", _WORD)
    able: dict[str, Memory] = {place: board.memory(place)}
    able |= {memory.name: memory for memory in memories_of_code(board)}
    return KernelCost(
        kernel,
        place,
        layout.moved_size(members, [kernel]),
        round(count * size),
        round(count),
        {
            name: wait_of_instructions(memory, count, size)
            for name, memory in able.items()
        },
    )


# ---- code ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Gain:
    """What moving a placement to another memory saves in a run."""

    name: str  # of the placement, such as activations
    memory: str
    to: str
    cycles: int
    bytes: int  # that it would take there
    free: int  # bytes there
    # Of code: what ember.yaml needs to say, for the kernels that have room.
    rule: str | None = None
    kernels: tuple[str, ...] = ()  # that have room
    saved: int = 0  # by those

    @property
    def lacking(self) -> int:
        return max(self.bytes - self.free, 0)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"lacking": self.lacking}


def of(
    estimate: Estimate,
    costs: Sequence[KernelCost],
    placements: Iterable[Mapping[str, Any]],
) -> list[Gain]:
    """The most cycles first; `placements` are those of data."""
    free = _free(estimate)
    gains = [gain for row in placements for gain in _of_data(row, free)]
    members = members_of(estimate)
    if costs and members is not None:
        rule = estimate.job.options.steering.code
        for memory in costs[0].cycles:
            gains += _of_code(members, costs, memory, free[memory], rule)
    return sorted(gains, key=lambda gain: (-gain.cycles, gain.name, gain.to))


def _free(estimate: Estimate) -> dict[str, int]:
    reserve = estimate.job.options.steering.reserve
    return {
        memory.memory: max(
            0, memory.capacity - memory.used - reserve.get(memory.memory, 0)
        )
        for memory in estimate.memories
    }


def _of_data(row: Mapping[str, Any], free: Mapping[str, int]) -> Iterable[Gain]:
    for memory, cycles in row["elsewhere"].items():
        if cycles < row["cycles"]:
            yield Gain(
                name=row["name"],
                memory=row["memory"],
                to=memory,
                cycles=row["cycles"] - cycles,
                bytes=row["bytes"],
                free=free[memory],
            )


def _of_code(
    members: Members,
    costs: Sequence[KernelCost],
    memory: str,
    free: int,
    rule: Mapping[str, Sequence[str]],
) -> Iterable[Gain]:
    there = [cost.kernel for cost in costs if cost.memory == memory]
    faster = [cost for cost in costs if round(_saved(cost, memory)) > 0]
    if not faster:
        return
    taken = layout.moved_size(members, there)
    names = [cost.kernel for cost in faster]
    worth = {cost.kernel: _saved(cost, memory) for cost in faster}
    chosen = fitting(members, worth, there, taken + free)
    words = [*rule.get(memory, ()), *chosen]
    yield Gain(
        name=layout.CODE,
        memory=faster[0].memory,
        to=memory,
        cycles=round(sum(_saved(cost, memory) for cost in faster)),
        bytes=layout.moved_size(members, [*there, *names]) - taken,
        free=free,
        rule=f"memory: {{code: {{{memory}: [{', '.join(words)}]}}}}"
        if chosen
        else None,
        kernels=tuple(chosen),
        saved=round(sum(_saved(c, memory) for c in faster if c.kernel in chosen)),
    )


def fitting(
    members: Members, worth: Mapping[str, float], there: Sequence[str], room: int
) -> list[str]:
    """Kernels that fit in `room` bytes beside those that are there; what saves most for
    its bytes is taken first. `worth` is what each saves."""
    sizes = {kernel: max(layout.moved_size(members, [kernel]), 1) for kernel in worth}
    chosen: list[str] = []
    for kernel in sorted(worth, key=lambda kernel: -worth[kernel] / sizes[kernel]):
        if layout.moved_size(members, [*there, *chosen, kernel]) <= room:
            chosen.append(kernel)
    return chosen


def left_out(estimate: Estimate) -> dict[str, list[str]]:
    """By memory that code overfills: the kernels that ember.yaml should not move there,
    so that the others fit. They are those that save least for their bytes."""
    members = members_of(estimate)
    if members is None or estimate.compiled is None:
        return {}
    over = {shortage.memory: shortage.over for shortage in estimate.shortages}
    home = linker.place(estimate.job.board)["code"]
    worth = {
        cost.kernel: cost.cycles[home] - cost.cycles[cost.memory]
        for cost in code_costs(estimate)
        if home in cost.cycles
    }
    kept = {
        code.memory: fitting(
            members,
            {kernel: worth.get(kernel, 0) for kernel in code.kernels},
            [],
            layout.moved_size(members, code.kernels) - over[code.memory],
        )
        for code in estimate.compiled.moved
        if code.memory in over
    }
    return {
        code.memory: [name for name in code.kernels if name not in kept[code.memory]]
        for code in estimate.compiled.moved
        if code.memory in kept
    }


def _saved(cost: KernelCost, memory: str) -> float:
    return cost.cycles[cost.memory] - cost.cycles[memory]
