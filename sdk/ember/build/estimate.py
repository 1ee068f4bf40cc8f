"""What firmware takes of each memory, and how much is missing where it does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ember.build import occupied
from ember.build.jobs import Job
from ember.build.linking import Compiled
from ember.build.occupied import Occupied
from ember.build.packing import Packed
from ember.build.placing import Placed
from ember.plan import regions


@dataclass(frozen=True)
class MemoryShortage:
    """A memory that is too small; sizes are bytes."""

    memory: str
    capacity: int
    needed: int
    pieces: Mapping[str, int]  # what lies there, the largest first

    @property
    def over(self) -> int:
        return self.needed - self.capacity

    def to_json(self) -> dict[str, Any]:
        """This shortage with the largest piece as its purpose."""
        return {
            "purpose": next(iter(self.pieces)),
            "memory": self.memory,
            "capacity": self.capacity,
            "needed": self.needed,
            "over": self.over,
            "pieces": dict(self.pieces),
        }


@dataclass(frozen=True)
class Estimate:
    """What each memory must have, whether it fits or not."""

    job: Job
    placed: Placed
    memories: tuple[Occupied, ...]
    packed: Packed | None = None
    compiled: Compiled | None = None  # None: nothing was linked
    reason: str = ""  # why nothing was linked: code and stack are guesses

    @property
    def stack(self) -> int:
        return self.placed.plans[0].stack

    @property
    def linked(self) -> dict[str, int]:
        """Bytes by memory that were not planned: code, variables, alignment."""
        known = {
            memory["name"]: memory["used"] for memory in self.placed.facts["memories"]
        }
        return {
            memory.memory: max(memory.used - known[memory.memory], 0)
            for memory in self.memories
        }

    @property
    def shortages(self) -> list[MemoryShortage]:
        reserve = self.job.options.steering.reserve
        shortages = []
        for memory in self.memories:
            kept = reserve.get(memory.memory, 0)
            if memory.used + kept > memory.capacity:
                pieces = _pieces(memory, self.placed.plans, kept)
                needed = memory.used + kept
                shortages.append(
                    MemoryShortage(memory.memory, memory.capacity, needed, pieces)
                )
        return shortages

    @property
    def fits(self) -> bool:
        return not self.shortages

    @property
    def over(self) -> int:
        return sum(shortage.over for shortage in self.shortages)

    def memories_json(self) -> list[dict[str, Any]]:
        return [
            {"name": memory.memory, "capacity": memory.capacity, "used": memory.used}
            for memory in self.memories
        ]

    def to_json(self) -> dict[str, Any]:
        """The plan's JSON with the figures of the link."""
        sections = [
            {"memory": memory.memory, "name": name, "bytes": size}
            for memory in self.memories
            for name, size in memory.pieces.items()
            if name != occupied.REGIONS
        ]
        return self.placed.facts | {
            "fits": self.fits,
            "memories": self.memories_json(),
            "sections": sections,
            "linked": not self.reason,
            "assumed": {"stack": self.stack, "reason": self.reason}
            if self.reason
            else None,
        }


def _pieces(
    memory: Occupied, plans: Sequence[regions.Plan], kept: int = 0
) -> dict[str, int]:
    """Names and bytes of everything in a memory, the largest first."""
    pieces = {
        name: size for name, size in memory.pieces.items() if name != occupied.REGIONS
    }
    placed = {region.name: region for each in plans for region in each.regions}
    for region in placed.values():
        if region.memory == memory.memory and region.added:
            name = region.purpose
            pieces[name] = pieces.get(name, 0) + region.added
    if kept:
        pieces["what `reserve:` of ember.yaml keeps"] = kept
    return dict(sorted(pieces.items(), key=lambda item: (-item[1], item[0])))
