"""What a plan is: regions of memory, by method, and which memory each is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember.boards import Board, Role
from ember.program import Method
from ember.program.types import ALIGN


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
