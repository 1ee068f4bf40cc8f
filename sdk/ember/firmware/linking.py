"""A package becomes objects, these a linked firmware and its estimate.

`Linking` compiles what is packed and links it; an `Estimate` says what that takes of
each memory, and how much is missing. One that fits is written as firmware.elf with its
certificate and sizes. `trace()` links a twin that marks the start and end of each node.
"""

from __future__ import annotations

import hashlib
import itertools
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ember import paths, writing
from ember.boards import Board
from ember.errors import SdkError
from ember.firmware import certificate, jobs, layout, pack
from ember.firmware import folder as build_folder
from ember.firmware.certificate import StackSize
from ember.firmware.folder import Built
from ember.firmware.jobs import Job
from ember.firmware.layout import Moved, Occupied
from ember.firmware.pack import Packed
from ember.firmware.placing import Placed
from ember.firmware.stack import ports
from ember.firmware.stack.bound import CallGraph
from ember.firmware.stack.code import Members
from ember.plan import regions, room
from ember.program import Method, Tensor
from ember.toolchain import elf, footprint, image, libraries, linker, parts
from ember.toolchain.compiler import DoesNotFitError, Libraries
from ember.toolchain.user_code import UserCode

if TYPE_CHECKING:
    from ember.firmware.pipeline import Pipeline


@dataclass(frozen=True)
class Sources:
    """What is compiled for one firmware, beside libraries."""

    package: Path
    methods: tuple[Method, ...]
    app: UserCode | None  # a main() of the user's own
    traced: bool = False
    prepared: bool = False

    @property
    def paths(self) -> list[Path]:
        folder = paths.runtime() / "app"
        names = ["model.c"] if self.prepared else ["model.c", "model_loaded.c"]
        if self.app is None:
            names += ["run_main.c", "values.c", _values_of(self.methods)]
            names.append("trace_on.c" if self.traced else "trace_off.c")
        files = [folder / name for name in names]
        files += pack.sources(self.package)
        return [*files, *self.app.sources] if self.app else files

    def digest(self) -> bytes:
        """A hash of everything in the package that the compiler reads."""
        digest = hashlib.sha256()
        for path in sorted(self.package.rglob("*.[chS]")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        return digest.digest()

    def compile(self, libs: Libraries, folder: Path) -> list[Path]:
        options = [f"-I{self.package}"]
        objects = libs.compile(self.paths, folder, options, given=self.app or ())
        if self.app:
            _need_main(self.app.sources, objects[-len(self.app.sources) :])
        return objects


def _need_main(sources: Sequence[Path], compiled: Sequence[Path]) -> None:
    symbols = [elf.read(path).symbol("main") for path in compiled]
    if not any(symbol and symbol.binding != elf.STB_LOCAL for symbol in symbols):
        raise SdkError(
            f"the application {', '.join(map(str, sources))} has no main()",
            hint="it starts in `int main(void)`: see examples/firmware/once.c",
        )


@dataclass(frozen=True)
class LinkInputs:
    """Everything that the linker is given, and the parts that it will use."""

    libs: Libraries
    files: tuple[Path, ...]  # compiled for this firmware, and the user's kernels
    members: Members | None  # None: on the host
    graph: CallGraph | None  # calls; None: the port has no bound of its stack

    def link(
        self, firmware: Path, script: Path | None, *, overlap: bool = False
    ) -> None:
        """Link `firmware`, beside it its map; SdkError when it does not fit."""
        self.libs.link(
            list(self.files),
            firmware,
            script=script,
            map_file=firmware.with_suffix(".map"),
            overlap=overlap,
        )


def link_inputs(libs: Libraries, files: Sequence[Path]) -> LinkInputs:
    """The objects to link `files` with the parts of libraries that they call."""
    libs = parts.of(libs, files)
    members = ports.members(libs, files)
    return LinkInputs(libs, tuple(files), members, ports.graph(libs, members))


def script_with_stack(package: Path, size: int) -> Path:
    """The package's linker script with another stack size, in a second file."""
    script = package / "linker-traced.ld"
    text = (package / "linker.ld").read_text(encoding="utf-8")
    script.write_text(linker.with_stack(text, size), encoding="utf-8")
    return script


def _values_of(methods: Iterable[Method]) -> str:
    """The application's source that reads the kinds of input that the methods take."""
    values = [method.values[index] for method in methods for index in method.inputs]
    fixed = all(isinstance(value, Tensor) and not value.is_dynamic for value in values)
    return "values_fixed.c" if fixed else "values_any.c"


# ---- linked --------------------------------------------------------------------------


@dataclass(frozen=True)
class Compiled:
    """Objects of one firmware, and the stack that their code needs."""

    objects: LinkInputs
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
        self._sources = Sources(
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
        user_objects = libraries.user_objects(
            self._libs, options.rules.known, packed.kernels
        )
        files = [*self._sources.compile(self._libs, self._scratch), *user_objects]
        objects = link_inputs(self._libs, files)
        stack = certificate.stack_size(
            self._libs,
            objects.graph,
            options.stack,
            far=bool(options.steering.code),
            declared=options.interrupts if self._job.app else None,
        )
        code = layout.moved_code(objects.members, packed, options.steering)
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
        layout.write_moved(script, compiled.moved)
        board, stack_memory = self._job.board, plans[0].stack_memory
        try:
            objects.link(elf_file, script)
            return layout.occupied(elf_file, board, stack_memory)
        except DoesNotFitError:
            roomy = self._scratch / "roomy.ld"
            text = script.read_text(encoding="utf-8")
            roomy.write_text(linker.with_room(text), encoding="utf-8")
            elf_file = self._scratch / "roomy.elf"
            objects.link(elf_file, roomy, overlap=True)
            memories = layout.occupied(elf_file, board, stack_memory)
            if all(memory.used <= memory.capacity for memory in memories):
                raise  # the linker knows better
            return memories


def _of_process(elf_file: Path, plans: Sequence[regions.Plan]) -> tuple[Occupied, ...]:
    """On the host, where everything is in one memory."""
    (memory,) = plans[0].board.memories
    sizes = image.sizes(elf_file, plans[0].board, *regions.totals(plans))
    pieces = {
        "code": sizes.code,
        "constants of code": sizes.rodata,
        "variables": sizes.data + sizes.bss,
        "the model": sizes.model,
    }
    return (Occupied(memory.name, memory.size, sizes.total, pieces),)


def guessed(placed: Placed, board: Board, stack: int) -> tuple[Occupied, ...]:
    """How much of each memory a firmware takes that is not linked."""
    guess = room.guessed(board)
    model = {plan.weights: plan.model_bytes for plan in placed.plans}
    memories = []
    for facts in placed.facts["memories"]:
        name = facts["name"]
        pieces = {"room for code and variables": guess.get(name, 0)}
        pieces["the model"] = model.get(name, 0)
        pieces["the stack"] = stack if name == placed.plans[0].stack_memory else 0
        used = facts["used"] + guess.get(name, 0)
        pieces = {what: size for what, size in pieces.items() if size}
        memories.append(Occupied(name, facts["capacity"], used, pieces))
    return tuple(memories)


# ---- what it takes -------------------------------------------------------------------


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

    pipeline: Pipeline
    placed: Placed
    memories: tuple[Occupied, ...]
    packed: Packed | None = None
    compiled: Compiled | None = None  # None: nothing was linked
    reason: str = ""  # why nothing was linked: code and stack are guesses

    @property
    def job(self) -> Job:
        return self.pipeline.job

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
            if name != layout.REGIONS
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
        name: size for name, size in memory.pieces.items() if name != layout.REGIONS
    }
    placed = {region.name: region for each in plans for region in each.regions}
    for region in placed.values():
        if region.memory == memory.memory and region.added:
            name = region.purpose
            pieces[name] = pieces.get(name, 0) + region.added
    if kept:
        pieces["what `reserve:` of ember.yaml keeps"] = kept
    return dict(sorted(pieces.items(), key=lambda item: (-item[1], item[0])))


# ---- firmware ------------------------------------------------------------------------


def write_firmware(
    target: Path, linked: Path, estimate: Estimate, libs: Libraries
) -> None:
    """Writes the `linked` firmware into the new folder `target`.

    SdkError when it is not what was planned.
    """
    assert estimate.compiled is not None
    objects = estimate.compiled.objects
    planned = certificate.planned(
        estimate.placed.plans,
        objects.members,
        estimate.compiled.stack,
        estimate.compiled.moved,
    )
    planned = replace(planned, work=estimate.placed.facts["work"])
    certified = certificate.linked(planned, linked, objects.graph)
    target.mkdir()
    for file in (linked, linked.with_suffix(".map")):
        shutil.move(file, target / file.name)
    certified.write(target)
    _write_sizes(target / linked.name, estimate, libs)


def _write_sizes(elf_file: Path, estimate: Estimate, libs: Libraries) -> None:
    assert estimate.packed is not None
    plans, job = estimate.placed.plans, estimate.job
    images = image.write_images(elf_file, job.board)
    sizes = image.sizes(elf_file, job.board, *regions.totals(plans))
    build_folder.write_json(
        elf_file.with_name("size.json"),
        {
            "options": job.options.told(job.board),
            "size": sizes.to_json(),
            "memory": estimate.memories_json(),
            "footprint": footprint.of_map(
                elf_file.with_suffix(".map"),
                estimate.packed.kernels,
                libs.objects,
                job.app.sources if job.app else (),
            ),
            "work": estimate.placed.facts["work"],
            "method_arena": regions.to_json(plans)["method_arena"],
            "images": [path.name for path in images],
        },
    )


# ---- a traced twin -------------------------------------------------------------------


def trace(built: Built) -> Path:
    """Link the traced twin of a firmware, unless it is there; its path."""
    with writing.locked(built.folder, wait=True):
        if not built.traced.is_file():
            libs = jobs.libraries_of(built.board, built.options)
            known, by_operator = built.options.rules.known, built.selection["operators"]
            kernels = libraries.user_objects(libs, known, by_operator)
            _link_traced(built, libs, kernels)
    return built.traced


def _link_traced(built: Built, libs: Libraries, kernels: Sequence[Path]) -> None:
    package = built.folder / "4-package"
    methods = tuple(itertools.chain(*built.all_methods))
    prepared = built.options.prepared
    sources = Sources(package, methods, None, traced=True, prepared=prepared)
    with tempfile.TemporaryDirectory(prefix="ember-objects-") as place:
        compiled = sources.compile(libs, Path(place))
        objects = link_inputs(libs, [*compiled, *kernels])
        script = package / "linker.ld"
        # Nobody knows what code without a bound needs, but marks take more than none.
        proven = built.certificate["stack"]["bound"] is not None
        stated = None if proven else built.plan["stack"] + linker.LEAST_STACK
        needed = certificate.stack_size(libs, objects.graph, stated).bytes
        if objects.graph is not None and needed > built.plan["stack"]:
            script = script_with_stack(package, needed)
        with writing.aside(built.traced.parent) as aside:
            objects.link(aside / built.traced.name, script)
            writing.publish(aside, built.traced.parent)
