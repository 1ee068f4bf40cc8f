"""Board descriptions: boards/<name>.yaml becomes a checked `Board`."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from ember import output, paths
from ember.boards import boot, isa
from ember.boards import files as board_files
from ember.boards import layers as board_layers
from ember.boards.boot import Boot, BootBlock
from ember.boards.files import Console, Core, Port, Preemption, Table
from ember.boards.keys import (
    ROLES_NEEDED,
    Flasher,
    Gdb,
    Identity,
    Memory,
    Probe,
    RegisterStep,
    Role,
    Strict,
    Uart,
)
from ember.errors import SdkError, problem_list

__all__ = ["ROLES_NEEDED", "Board", "Memory", "Role", "Runner", "load", "names", "read"]

# Ports of Cortex-M make this part of the address space read-only, or less of it.
CORTEXM_READ_ONLY_END = 0x2000_0000
_WIDE = ("armv8-a", "armv9-a")  # architectures with pointers of 8 bytes
# What Cortex-M keep for memories outside of the chip.
_OUTSIDE_OF_CHIPS = range(0x6000_0000, 0xA000_0000)


class Runner(Strict):
    """How a firmware of the board is run on the host."""

    kind: Literal["qemu-system", "qemu-user", "native", "none"]
    binary: str | None = None
    args: tuple[str, ...] = ()
    timeout_s: float = Field(default=60, gt=0)
    counts: Literal["instructions", "packets"] | None = None

    @model_validator(mode="after")
    def _emulators_have_a_binary(self) -> Runner:
        if self.kind.startswith("qemu") and not self.binary:
            raise ValueError(f"a runner of kind {self.kind} needs `binary`")
        return self


class Board(Strict):
    """Everything the SDK knows about one board."""

    name: str
    title: str
    chip: str | None = None  # None: the board's own file describes it
    cpu: str
    core: Core | None = None  # None: of a port that asks nothing of it
    isa: tuple[str, ...]
    svl: Literal[128, 256, 512, 1024, 2048] | None = None  # bits; with SME
    toolchains: tuple[str, ...]
    port: Port
    internal: bool = False  # used by the SDK itself, not offered to users
    sanitize: tuple[str, ...] = ()
    memories: tuple[Memory, ...] = Field(min_length=1)
    start: tuple[RegisterStep, ...] = ()  # before anything else: clocks, pins, memories
    boot: Boot = Boot()  # what the chip's boot ROM reads before that
    interrupts: Preemption = Preemption()
    console: Console
    uart: Uart | None = None
    runner: Runner = Runner(kind="none")
    identity: Identity | None = None  # read before flashing: is it this chip?
    probe: Probe | None = None
    flashers: tuple[Flasher, ...] = ()  # the first is what `ember flash` takes
    # How these facts were checked, and where they are from.
    verified: Literal["hardware", "qemu", "datasheet", "nobody"] = "nobody"
    sources: tuple[str, ...] = ()

    @property
    def toolchain(self) -> str:
        """The toolchain to use when nobody asks for another."""
        if not self.toolchains:
            raise self.has_only_sources()
        return self.toolchains[0]

    def has_only_sources(self) -> SdkError:
        return SdkError(
            f"board {self.name} is for sources in a project of its own, which is what"
            " `port: library` says: firmware needs another port",
            hint="use `ember package`, or give its file a port of docs/boards.md",
        )

    @property
    def pointer_bytes(self) -> int:
        wide = self.core is not None and self.core.arch in _WIDE
        return 8 if wide or self.port in ("a64", "host") else 4

    @property
    def detects(self) -> bool:
        """Whether firmware finds out which of the instruction sets its core has."""
        return self.core is not None and self.core.detects

    @property
    def has_script(self) -> bool:
        """Whether Ember writes the linker script, so that sections go where it says."""
        return self.port not in ("host", "library")

    @property
    def read_only_end(self) -> int:
        """Where memory that the Cortex-M port protects from stores ends: at the first
        that can be written, or, where regions of the MPU have sizes that are powers of
        two (before Armv8-M), at the power of two below."""
        writable = [
            memory.base
            for memory in self.memories
            if memory.writable and memory.base and not memory.is_only_code
        ]
        any_address = self.core is not None and self.core.arch == "armv8-m"
        end = min([CORTEXM_READ_ONLY_END, *writable])
        return end if any_address else 1 << end.bit_length() - 1

    def memory(self, name: str) -> Memory:
        """The memory called `name`; an SdkError when there is none."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        known = ", ".join(memory.name for memory in self.memories)
        raise SdkError(
            f"board {self.name} has no memory '{name}'", hint=f"it has: {known}"
        )

    def flasher(self, tool: str | None) -> Flasher:
        """How `tool` flashes the board, or the first of its flashers."""
        for candidate in self.flashers:
            if tool in (None, candidate.tool):
                return candidate
        if tool == "gdb" and any(memory.flash for memory in self.memories):
            return Gdb(tool="gdb")  # it needs no facts but the address of a server
        known = ", ".join(flasher.tool for flasher in self.flashers)
        raise SdkError(
            f"board {self.name} has no flasher{f' {tool!r}' if tool else ''}",
            hint=f"it has: {known}" if known else "add `flashers:` to its file",
        )

    @property
    def boot_blocks(self) -> list[BootBlock]:
        """The bytes in front of the vectors, except code, by offset in their memory."""
        if not self.boot.code:  # most chips look for the vectors first
            return []
        return boot.blocks(self.boot, self.memories_for("vectors")[0])

    @property
    def header_missing(self) -> tuple[str, str] | None:
        """Why no image starts by itself, and the remedy; None: it does."""
        if not self.boot.missing:
            return None
        *more, last = self.boot.missing
        wanted = f"{', '.join(more)} and {last}" if more else last
        return (
            f"{self.name} cannot boot: the boot ROM of {self.chip or 'the chip'}"
            f" expects {wanted} before the code, and nothing provides it",
            "give each a `file`, or what Ember generates (`made`), under `boot: parts:`"
            " in the board's file, or `kept: true` if it is already in flash; see"
            " docs/boards.md",
        )

    @property
    def header_unsaid(self) -> tuple[str, str] | None:
        """Of a board whose flash is outside of the chip, and nothing says how it is
        started: what that means, and the remedy."""
        if self.port != "cortexm" or "boot" in self.model_fields_set:
            return None
        flash = self.memories_for("vectors")[0]
        if flash.kind != "flash" or flash.base not in _OUTSIDE_OF_CHIPS:
            return None
        return (
            f"the vectors of {self.name} are at {flash.base:#010x}, outside the chip:"
            " a core starts there only if its boot ROM finds a header, and the"
            " board's file describes none",
            "describe it under `boot:`, or write `boot: {}` if there is none; see"
            " docs/boards.md",
        )

    def memories_for(self, role: Role) -> tuple[Memory, ...]:
        """The memories that may hold `role`, in the board's order."""
        return tuple(memory for memory in self.memories if role in memory.holds)

    # ---- what is wrong with it, all at once ------------------------------------------

    @model_validator(mode="after")
    def _is_whole(self) -> Board:
        checks = (
            *(self._of_its_port, self._how_it_was_verified, self._of_its_sets),
            *(self._memories, self._of_roles, self._flashing),
        )
        problems = [problem for check in checks for problem in check()]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _of_its_port(self) -> Iterator[str]:
        ports: dict[str, tuple[str, ...]] = {  # that support a key
            **{"start": ("cortexm",), "boot": ("cortexm", "library")},
            "interrupts": ("cortexm",),
        }
        for key, able in ports.items():
            is_given = getattr(self, key) != Board.model_fields[key].default
            if is_given and self.port not in able:
                yield f"the port {self.port} does not support `{key}`"
        if self.console == "uart" and self.uart is None:
            yield "console is uart, but there is no `uart`"
        if self.console == "uart" and self.port not in ("cortexm", "a64"):
            yield f"the port {self.port} does not support `console: uart`"
        toolchains = [path.stem for path in paths.toolchains().glob("*.cmake")]
        for name in self.toolchains if self.port != "library" else ():
            if name not in toolchains:
                near = board_files.near(name, toolchains)
                yield f"there is no toolchain '{name}': {near or 'see docs/boards.md'}"
        if not self.toolchains and self.port != "library":
            yield "`toolchains` must name one at least"

    def _how_it_was_verified(self) -> Iterator[str]:
        if self.verified == "datasheet" and not self.sources:
            yield "`verified: datasheet` needs the datasheet under `sources`"
        if self.verified == "qemu" and self.runner.kind == "none":
            yield (
                "`verified: qemu` needs a `runner`; without one, write how the facts"
                " were checked: datasheet, hardware or nobody"
            )

    def _of_its_sets(self) -> Iterator[str]:
        for name in self.isa:
            if name not in isa.load():
                near = board_files.near(name, isa.load()) or "see docs/kernels.md"
                yield f"kernels/isa.yaml has no {name}: {near}"
        if ("sme" in self.isa) != (self.svl is not None):
            yield (
                "`svl` (bits of a vector in streaming mode) is required with sme, and"
                " not allowed without"
            )

    def _of_roles(self) -> Iterator[str]:
        # Who links sources decides where all else goes.
        needed = ("rodata", "data") if self.port == "library" else ROLES_NEEDED
        if self.boot.code:
            needed = (*dict.fromkeys((*needed, "vectors")),)
        missing = [role for role in needed if not self.memories_for(role)]
        if missing:
            yield f"no memory holds {', '.join(missing)}"
            return
        try:
            _ = self.boot_blocks
        except ValueError as error:
            yield str(error)

    def _flashing(self) -> Iterator[str]:
        tools = [flasher.tool for flasher in self.flashers]
        if len(set(tools)) != len(tools):
            yield "a tool is listed twice under flashers"
        if self.flashers and not any(memory.flash for memory in self.memories):
            yield "it has flashers, but no memory has `flash`"

    def _memories(self) -> Iterator[str]:
        names = [memory.name for memory in self.memories]
        if len(set(names)) != len(names):
            yield "two memories have the same name"
        ordered = sorted(self.memories, key=lambda memory: memory.base)
        for low, high in itertools.pairwise(ordered):
            if low.end > high.base:
                yield f"memories {low.name} and {high.name} overlap"
        read_only = {"vectors", "code", "rodata", "weights", "kernels"}
        for memory in self.memories:
            written = [role for role in memory.holds if role not in read_only]
            if written and not memory.writable:
                yield (
                    f"memory {memory.name} is {memory.access} and cannot hold"
                    f" {', '.join(written)}"
                )
            if "kernels" in memory.holds and "x" not in memory.access:
                yield (
                    f"memory {memory.name} is {memory.access} and cannot hold kernels:"
                    " that takes access rwx"
                )
            low_end = memory.base < self.read_only_end and not memory.is_only_code
            if self.port == "cortexm" and memory.writable and low_end:
                yield (
                    f"memory {memory.name} is writable but below"
                    f" {self.read_only_end:#x}, which the cortexm port makes read-only"
                )


def names(*, internal: bool = False) -> list[str]:
    """The names of all boards, sorted; internal ones only when asked for."""
    every = sorted(path.stem for path in paths.boards().glob("*.yaml"))
    return [name for name in every if internal or not load(name).internal]


@functools.cache
def load(name: str) -> Board:
    """The board called `name`, or of the file when `name` is one that ends in .yaml;
    an SdkError that suggests one when there is none."""
    if name.endswith(".yaml"):
        return _of_file(Path(name), Path(name).stem)
    path = paths.boards() / f"{name}.yaml"
    if not re.fullmatch(r"[\w.-]+", name) or not path.is_file():
        raise SdkError(f"unknown board '{name}'", hint=_instead_of(name))
    return _of_file(path, name)


def _instead_of(name: str) -> str:
    """What a user may have meant by the name of no board."""
    files = [file for file in (f"{name}.yaml", name) if Path(file).is_file()]
    if files:
        return f"a board's own file is named with its .yaml: --board {files[0]}"
    known = [load(each) for each in names()]
    near = board_files.near(name, [board.name for board in known])
    if near:
        return near.strip()
    having = [
        board
        for board in known
        if name.lower()
        in f"{board.name} {board.chip} {board.cpu} {board.title}".lower()
    ]
    what = f"boards with '{name}'" if name and having else "one of"
    listed = ", ".join(board.name for board in having or known)
    return (
        f"{what}: {listed}; or describe your own in a file, for --board FILE.yaml:"
        " docs/boards.md"
    )


def computer(board: Board | None) -> Board:
    """The host, with pointers as wide as the board's."""
    narrow = board is not None and board.pointer_bytes != 8
    return load("arm-user" if narrow else "host")


def _of_file(path: Path, name: str) -> Board:
    fields = board_layers.read(path)
    board = _checked(path, fields, name)
    for what, remedy in fields.notes:
        output.note(what, remedy)
    return board


def read(path: Path) -> Board:
    """The board in the YAML file `path`, with every mistake in it named at once."""
    return _checked(path, board_layers.read(path))


def _checked(path: Path, fields: board_layers.Fields, name: str | None = None) -> Board:
    problems, said = [*fields.problems], fields.table.get("name", name)
    if name is not None and said != name:
        problems.append(f"its name is '{said}', its file says '{name}'")
    board, wrong = _validated(path, fields, fields.table)
    if wrong:  # what lacks keys is not looked at as a whole: again, with stand-ins
        problems += wrong
        problems += _validated(path, fields, _mended(fields.table))[1]
    if board is None or problems:
        unique = [*dict.fromkeys(problems)]
        hint = fields.hint or "compare with the boards that `ember boards` lists"
        raise SdkError(problem_list(str(path), unique), hint=hint)
    return board


def _validated(
    path: Path, fields: board_layers.Fields, table: Table
) -> tuple[Board | None, list[str]]:
    try:
        return Board.model_validate(table), []
    except ValidationError as error:
        return None, fields.told(path, error, Board)


def _mended(table: Table) -> Table:
    """The table without unknown keys, and with those that are missing."""
    stand_ins = {**dict.fromkeys(("name", "title", "cpu"), "-"), **isa.STAND_IN}
    known = {key: value for key, value in table.items() if key in Board.model_fields}
    return {**stand_ins, **known}
