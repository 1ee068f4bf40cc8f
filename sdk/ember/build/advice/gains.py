"""An estimate becomes what a run would save if code or data lay in other memories.

Of each placement that is faster elsewhere: the cycles, the bytes, and whether there is
room. Data lies where it is cheapest as long as there is room, so what it would save
needs more of a memory. Code moves only where ember.yaml says so; of its kernels those
are named that save most for their bytes and fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ember.build import moved, occupied
from ember.build.advice import code_costs
from ember.build.advice.code_costs import KernelCost
from ember.build.estimate import Estimate
from ember.build.stack.members import Members
from ember.toolchain import linker


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
    members = code_costs.members_of(estimate)
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
    taken = moved.size(members, there)
    names = [cost.kernel for cost in faster]
    worth = {cost.kernel: _saved(cost, memory) for cost in faster}
    chosen = fitting(members, worth, there, taken + free)
    words = [*rule.get(memory, ()), *chosen]
    yield Gain(
        name=occupied.CODE,
        memory=faster[0].memory,
        to=memory,
        cycles=round(sum(_saved(cost, memory) for cost in faster)),
        bytes=moved.size(members, [*there, *names]) - taken,
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
    sizes = {kernel: max(moved.size(members, [kernel]), 1) for kernel in worth}
    chosen: list[str] = []
    for kernel in sorted(worth, key=lambda kernel: -worth[kernel] / sizes[kernel]):
        if moved.size(members, [*there, *chosen, kernel]) <= room:
            chosen.append(kernel)
    return chosen


def left_out(estimate: Estimate) -> dict[str, list[str]]:
    """By memory that code overfills: the kernels that ember.yaml should not move there,
    so that the others fit. They are those that save least for their bytes."""
    members = code_costs.members_of(estimate)
    if members is None or estimate.compiled is None:
        return {}
    over = {shortage.memory: shortage.over for shortage in estimate.shortages}
    home = linker.place(estimate.job.board)["code"]
    worth = {
        cost.kernel: cost.cycles[home] - cost.cycles[cost.memory]
        for cost in code_costs.of(estimate)
        if home in cost.cycles
    }
    kept = {
        code.memory: fitting(
            members,
            {kernel: worth.get(kernel, 0) for kernel in code.kernels},
            [],
            moved.size(members, code.kernels) - over[code.memory],
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
