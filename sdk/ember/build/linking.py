"""Packed models become objects, these a linked firmware and its sizes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.build import certificate, firmware, moved, occupied
from ember.build.certificate import StackSize
from ember.build.jobs import Job
from ember.build.moved import Moved
from ember.build.occupied import Occupied
from ember.build.packing import Packed
from ember.plan import regions
from ember.toolchain import image, linker, user_kernels
from ember.toolchain.libraries import Libraries
from ember.toolchain.linker import DoesNotFitError


@dataclass(frozen=True)
class Compiled:
    """Objects of one firmware, and the stack that their code needs."""

    objects: firmware.LinkInputs
    stack: StackSize
    moved: tuple[Moved, ...] = ()  # code that ember.yaml moves to other memories


class Linking:
    """Compiles and links what is packed, in the folder `scratch`; the same sources are
    compiled once."""

    def __init__(self, folder: Path, job: Job, libs: Libraries, scratch: Path) -> None:
        self._package = folder / "4-package"
        self._job = job
        self._libs = libs
        self._scratch = scratch
        self._sources = firmware.Sources(
            self._package,
            tuple(itertools.chain(*job.methods)),
            job.app,
            prepared=job.options.prepared,
        )
        self._last: tuple[bytes, Compiled] | None = None

    def compile(self, packed: Packed) -> Compiled:
        digest = self._sources.digest()
        if self._last is None or self._last[0] != digest:
            self._last = digest, self._compiled(packed)
        return self._last[1]

    def _compiled(self, packed: Packed) -> Compiled:
        options = self._job.options
        user_objects = user_kernels.objects(
            self._libs, options.rules.known, packed.kernels
        )
        files = [*self._sources.compile(self._libs, self._scratch), *user_objects]
        objects = firmware.objects(self._libs, files)
        stack = certificate.stack_size(
            self._libs,
            objects.graph,
            options.stack,
            far=bool(options.steering.code),
            declared=options.interrupts if self._job.app else None,
        )
        code = moved.of(objects.members, packed, options.steering)
        return Compiled(objects, stack, tuple(code))

    def link(self, compiled: Compiled, packed: Packed) -> tuple[Occupied, ...]:
        """How much of each memory firmware.elf takes.

        Where a memory is too small, roomy.elf is linked with larger ones, so the
        missing bytes are the linker's figure as well.
        """
        script = self._package / "linker.ld"
        elf_file = self._scratch / "firmware.elf"
        objects, plans = compiled.objects, packed.plans
        if not script.is_file():
            objects.link(elf_file, None)
            return _of_process(elf_file, plans)
        moved.write(script, compiled.moved)
        board, stack_memory = self._job.board, plans[0].stack_memory
        try:
            objects.link(elf_file, script)
            return occupied.of(elf_file, board, stack_memory)
        except DoesNotFitError:
            roomy = self._scratch / "roomy.ld"
            text = script.read_text(encoding="utf-8")
            roomy.write_text(linker.with_room(text), encoding="utf-8")
            elf_file = self._scratch / "roomy.elf"
            objects.link(elf_file, roomy, overlap=True)
            memories = occupied.of(elf_file, board, stack_memory)
            if all(memory.used <= memory.capacity for memory in memories):
                raise  # the linker knows better
            return memories


def _of_process(elf_file: Path, plans: Sequence[regions.Plan]) -> tuple[Occupied, ...]:
    """On this computer, where everything lies in one memory."""
    (memory,) = plans[0].board.memories
    sizes = image.sizes(elf_file, plans[0].board, *regions.totals(plans))
    pieces = {
        "code": sizes.code,
        "constants of code": sizes.rodata,
        "variables": sizes.data + sizes.bss,
        "the model": sizes.model,
    }
    return (Occupied(memory.name, memory.size, sizes.total, pieces),)
