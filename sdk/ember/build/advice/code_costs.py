"""An estimate of a firmware becomes what its kernels wait for their code.

Where a board has several memories for code: for each kernel that the methods call, its
bytes, its instructions in a run of every method (plan/instructions.py, an estimate),
and the cycles that the core waits for them in each memory. Nodes of delegates are not
estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ember.boards import Board, Memory
from ember.build import moved, occupied
from ember.build.estimate import Estimate
from ember.build.stack.members import Members
from ember.cycles import waits
from ember.model.steering import memories_of_code
from ember.plan import costs, instructions
from ember.plan.costs import CostPiece
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


def of(estimate: Estimate) -> list[KernelCost]:
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


def placements(members: Members, kernels: Sequence[KernelCost]) -> list[dict[str, Any]]:
    """A row for each memory that has code of kernels, as those of data."""
    pieces = [
        CostPiece(occupied.CODE, cost.memory, cost.bytes, cost.fetched, cost.cycles)
        for cost in kernels
    ]
    rows = costs.to_json(pieces)
    for row in rows:  # what several of them call counts once
        there = [cost.kernel for cost in kernels if cost.memory == row["memory"]]
        row["bytes"] = moved.size(members, there)
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
            counts = instructions.of(method, known, kernels, core)
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
        moved.size(members, [kernel]),
        round(count * size),
        round(count),
        {
            name: waits.of_instructions(memory, count, size)
            for name, memory in able.items()
        },
    )
