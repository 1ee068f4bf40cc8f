"""A job and its libraries become a linked firmware and what each memory must have.

The stack depends on the linked code, the place of regions on the room that code and
variables leave, and the code on what was placed where. So this plans, compiles and
links until the figures it planned with match the result. If a memory is too small, it
links with a larger one: missing bytes are the linker's figures, too.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember.build import certificate, firmware, jobs, occupied
from ember.build.jobs import Job, Planned
from ember.build.occupied import Occupied
from ember.build.stack.bound import Bound
from ember.build.stages import Packed, packed_models
from ember.plan import regions as plan
from ember.plan.improved import Chosen
from ember.plan.memories import NoRoomByRulesError
from ember.plan.regions import room
from ember.toolchain import image, linker, user_kernels
from ember.toolchain.libraries import Libraries
from ember.toolchain.linker import DoesNotFitError


@dataclass(frozen=True)
class Shortage:
    """A memory that is too small; sizes are bytes."""

    memory: str
    capacity: int
    needed: int
    pieces: Mapping[str, int]  # what lies there, the largest first

    @property
    def over(self) -> int:
        return self.needed - self.capacity

    def to_json(self) -> dict[str, Any]:
        """With the largest piece as its purpose."""
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
    planned: Planned
    memories: tuple[Occupied, ...]
    bound: Bound | None = None  # of the stack; None: the port has none
    packed: Packed | None = None  # what was linked
    objects: firmware.Objects | None = None
    reason: str = ""  # why nothing was linked: code and stack are guesses

    @property
    def stack(self) -> int:
        return self.planned.plans[0].stack

    @property
    def linked(self) -> dict[str, int]:
        """Bytes by memory of all that was not planned: code, variables, alignment."""
        placed = {one["name"]: one["used"] for one in self.planned.facts["memories"]}
        return {
            one.memory: max(one.used - placed[one.memory], 0) for one in self.memories
        }

    @property
    def shortages(self) -> list[Shortage]:
        reserve = self.job.options.steering.reserve
        found = []
        for one in self.memories:
            kept = reserve.get(one.memory, 0)
            if one.used + kept > one.capacity:
                pieces = _pieces(one, self.planned.plans, kept)
                needed = one.used + kept
                found.append(Shortage(one.memory, one.capacity, needed, pieces))
        return found

    @property
    def fits(self) -> bool:
        return not self.shortages

    @property
    def over(self) -> int:
        return sum(one.over for one in self.shortages)

    def memories_json(self) -> list[dict[str, Any]]:
        return [
            {"name": one.memory, "capacity": one.capacity, "used": one.used}
            for one in self.memories
        ]

    def to_json(self) -> dict[str, Any]:
        """The plan's JSON with what the link says."""
        sections = [
            {"memory": one.memory, "name": name, "bytes": size}
            for one in self.memories
            for name, size in one.pieces.items()
            if name != occupied.REGIONS
        ]
        return self.planned.facts | {
            "fits": self.fits,
            "memories": self.memories_json(),
            "sections": sections,
            "linked": not self.reason,
            "assumed": {"stack": self.stack, "reason": self.reason}
            if self.reason
            else None,
        }


def _pieces(one: Occupied, plans: Sequence[plan.Plan], kept: int = 0) -> dict[str, int]:
    """Names and bytes of all that lies in a memory, the largest first."""
    found = {
        name: size for name, size in one.pieces.items() if name != occupied.REGIONS
    }
    regions = {region.name: region for each in plans for region in each.regions}
    for region in regions.values():
        if region.memory == one.memory and region.added:
            name = region.purpose
            found[name] = found.get(name, 0) + region.added
    if kept:
        found["what `reserve:` of ember.yaml keeps"] = kept
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def of_job(
    folder: Path,
    job: Job,
    pairs: Sequence[Chosen],
    made: Libraries,
    place: Path,
) -> Estimate:
    """The first artefacts in `folder`, and in `place` objects and what is linked of
    them: firmware.elf, where it fits."""
    return _Rounds(folder, job, pairs, made, place).settled()


def alone(job: Job, pairs: Sequence[Chosen], made: Libraries) -> Estimate:
    """The same, and nothing stays."""
    with tempfile.TemporaryDirectory(prefix="ember-estimate-") as temporary:
        folder, place = Path(temporary) / "build", Path(temporary) / "objects"
        folder.mkdir()
        place.mkdir()
        return of_job(folder, job, pairs, made, place)


def assumed(
    job: Job, pairs: Sequence[Chosen], reason: str, *, spread: bool = True
) -> Estimate:
    """Without a link, because of `reason`: code and stack are guesses."""
    stack = job.options.stack or linker.DEFAULT_STACK
    planned = jobs.planned(job, pairs, stack, spread=spread)
    guess = room.guessed(job.board)
    model = {one.weights: one.model_bytes for one in planned.plans}
    memories = []
    for facts in planned.facts["memories"]:
        name = facts["name"]
        pieces = {"room for code and variables": guess.get(name, 0)}
        pieces["the model"] = model.get(name, 0)
        pieces["the stack"] = stack if name == planned.plans[0].stack_memory else 0
        used = facts["used"] + guess.get(name, 0)
        pieces = {what: size for what, size in pieces.items() if size}
        memories.append(Occupied(name, facts["capacity"], used, pieces))
    return Estimate(job, planned, tuple(memories), reason=reason)


class _Rounds:
    """What is planned with grows from one round to the next, until it is enough."""

    def __init__(
        self,
        folder: Path,
        job: Job,
        pairs: Sequence[Chosen],
        made: Libraries,
        place: Path,
    ) -> None:
        self.folder = folder
        self.job = job
        self.pairs = pairs
        self.made = made
        self.place = place
        self.sources = firmware.Sources(
            folder / "4-package",
            tuple(itertools.chain(*job.methods)),
            job.app,
            prepared=job.options.prepared,
        )
        self.stack = job.options.stack or certificate.first_stack(job.board)
        self.linked: dict[str, int] | None = None  # a guess
        self.spread = True

    def settled(self) -> Estimate:
        digest = b""
        first = self.stack
        while True:
            packed = self._packed()
            if digest != self.sources.digest():
                digest = self.sources.digest()
                objects = self._objects(packed)
                needed, bound = certificate.stack_size(
                    self.made, objects.graph, self.job.options.stack
                )
            if needed > self.stack:
                self.stack = needed
                continue
            memories = self._link(objects, packed.plans)
            found = Estimate(self.job, packed.planned, memories, bound, packed, objects)
            if found.fits and not packed.planned.shortages:
                return found
            if self._is_enough(found.linked):
                if not self.spread or self.job.options.steering:
                    return found
                self.spread = False  # without copies, which code and stack pay for
                self.stack = first
                continue
            known = self.linked or {}
            self.linked = {
                name: max(size, known.get(name, 0))
                for name, size in found.linked.items()
            }

    def _packed(self) -> Packed:
        """With the guess; where that breaks a rule of the project, with nothing."""
        wanted = self.folder, self.job, self.pairs, self.stack
        try:
            return packed_models(*wanted, self.linked, spread=self.spread)
        except NoRoomByRulesError:
            if self.linked is not None:
                raise
            self.linked = {}
            return packed_models(*wanted, self.linked)

    def _is_enough(self, linked: Mapping[str, int]) -> bool:
        known = self.linked
        return known is not None and all(
            size <= known.get(name, 0) for name, size in linked.items()
        )

    def _objects(self, packed: Packed) -> firmware.Objects:
        known = self.job.options.rules.known
        own = user_kernels.objects(self.made, known, packed.chosen)
        files = [*self.sources.compile(self.made, self.place), *own]
        return firmware.objects(self.made, files)

    def _link(
        self, objects: firmware.Objects, plans: Sequence[plan.Plan]
    ) -> tuple[Occupied, ...]:
        script = self.folder / "4-package" / "linker.ld"
        elf_file = self.place / "firmware.elf"
        if not script.is_file():
            objects.link(elf_file, None)
            return _of_process(elf_file, plans)
        board, stack_memory = self.job.board, plans[0].stack_memory
        try:
            objects.link(elf_file, script)
            return occupied.of(elf_file, board, stack_memory)
        except DoesNotFitError:
            roomy = self.place / "roomy.ld"
            text = script.read_text(encoding="utf-8")
            roomy.write_text(linker.with_room(text), encoding="utf-8")
            elf_file = self.place / "roomy.elf"
            objects.link(elf_file, roomy, overlap=True)
            found = occupied.of(elf_file, board, stack_memory)
            if all(one.used <= one.capacity for one in found):
                raise  # the linker knows better
            return found


def _of_process(elf_file: Path, plans: Sequence[plan.Plan]) -> tuple[Occupied, ...]:
    """On this computer, where all that a program has lies in one memory."""
    (memory,) = plans[0].board.memories
    found = image.sizes(elf_file, plans[0].board, *plan.totals(plans))
    pieces = {
        "code": found.code,
        "constants of code": found.rodata,
        "variables": found.data + found.bss,
        "the model": found.model,
    }
    return (Occupied(memory.name, memory.size, found.total, pieces),)
