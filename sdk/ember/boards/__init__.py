"""Board descriptions: boards/<name>.yaml becomes a checked `Board`."""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from ember import output, paths
from ember.boards import boot_images, isa
from ember.boards import layers as board_layers
from ember.boards.boot_facts import Boot, BootBlock
from ember.boards.files import Console, Core, Port, Preemption
from ember.boards.flash_facts import Flasher, Gdb, Identity, Probe
from ember.boards.memory import ROLES_NEEDED, Memory, Role
from ember.boards.steps import RegisterStep
from ember.boards.strict import Strict
from ember.boards.uart import Uart
from ember.errors import SdkError

__all__ = ["ROLES_NEEDED", "Board", "Memory", "Role", "Runner", "load", "names", "read"]

# Ports of Cortex-M make this part of the address space read-only, or less of it.
CORTEXM_READ_ONLY_END = 0x2000_0000
_WIDE = ("armv8-a", "armv9-a")  # architectures with pointers of 8 bytes
# What Cortex-M keep for memories outside of the chip.
_OUTSIDE_OF_CHIPS = range(0x6000_0000, 0xA000_0000)


class Runner(Strict):
    """How a firmware of the board is run on this computer."""

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
    toolchains: tuple[str, ...] = Field(min_length=1)
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
    verified: Literal["hardware", "qemu", "datasheet", "nobody"] = "qemu"
    sources: tuple[str, ...] = ()

    @property
    def toolchain(self) -> str:
        """The toolchain to use when nobody asks for another."""
        return self.toolchains[0]

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
        """What lies in front of the vectors, code aside, by offset in their memory."""
        if not self.boot.code:  # most chips look for the vectors first
            return []
        return boot_images.blocks(self.boot, self.memories_for("vectors")[0])

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
        flash = self.memories_for("vectors")[0]
        outside = flash.kind == "flash" and flash.base in _OUTSIDE_OF_CHIPS
        if self.port != "cortexm" or not outside or "boot" in self.model_fields_set:
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

    @model_validator(mode="after")
    def _only_a_port_that_walks_them_has_steps(self) -> Board:
        if self.start and self.port != "cortexm":
            raise ValueError(f"the port {self.port} does not support `start`")
        if self.boot != Boot() and self.port not in ("cortexm", "library"):
            raise ValueError(f"the port {self.port} does not support `boot`")
        return self

    @model_validator(mode="after")
    def _a_console_has_its_line(self) -> Board:
        if self.console == "uart" and self.uart is None:
            raise ValueError("console is uart, but there is no `uart`")
        if self.console == "uart" and self.port not in ("cortexm", "a64"):
            raise ValueError(f"the port {self.port} does not support `console: uart`")
        return self

    @model_validator(mode="after")
    def _interrupts_are_those_of_cortex_m(self) -> Board:
        if self.interrupts != Preemption() and self.port != "cortexm":
            raise ValueError(f"the port {self.port} does not support `interrupts`")
        return self

    @model_validator(mode="after")
    def _what_was_not_run_names_its_sources(self) -> Board:
        if self.verified == "datasheet" and not self.sources:
            raise ValueError(
                "`verified: datasheet` needs the datasheet under `sources`"
            )
        if self.verified == "qemu" and self.runner.kind == "none":
            raise ValueError(
                "`verified: qemu` needs a `runner`; without one, write how the facts"
                " were checked: datasheet, hardware or nobody"
            )
        return self

    @model_validator(mode="after")
    def _instruction_sets_are_known(self) -> Board:
        unknown = [name for name in self.isa if name not in isa.load()]
        if unknown:
            raise ValueError(f"kernels/isa.yaml has no {', '.join(unknown)}")
        return self

    @model_validator(mode="after")
    def _vectors_have_a_length(self) -> Board:
        if ("sme" in self.isa) != (self.svl is not None):
            raise ValueError(
                "`svl` (bits of a vector in streaming mode) is required with sme, and"
                " not allowed without"
            )
        return self

    @model_validator(mode="after")
    def _roles_have_a_memory(self) -> Board:
        missing = [role for role in ROLES_NEEDED if not self.memories_for(role)]
        if missing:
            raise ValueError(f"no memory holds {', '.join(missing)}")
        return self

    @model_validator(mode="after")
    def _what_boots_can_be_made(self) -> Board:
        _ = self.boot_blocks
        return self

    @model_validator(mode="after")
    def _flashers_differ(self) -> Board:
        tools = [flasher.tool for flasher in self.flashers]
        if len(set(tools)) != len(tools):
            raise ValueError("a tool is listed twice under flashers")
        if self.flashers and not any(memory.flash for memory in self.memories):
            raise ValueError("it has flashers, but no memory has `flash`")
        return self

    @model_validator(mode="after")
    def _memories_are_apart(self) -> Board:
        names = [memory.name for memory in self.memories]
        if len(set(names)) != len(names):
            raise ValueError("two memories have the same name")
        ordered = sorted(self.memories, key=lambda memory: memory.base)
        for low, high in itertools.pairwise(ordered):
            if low.end > high.base:
                raise ValueError(f"memories {low.name} and {high.name} overlap")
        return self

    @model_validator(mode="after")
    def _written_memories_are_writable(self) -> Board:
        read_only = {"vectors", "code", "rodata", "weights", "kernels"}
        for memory in self.memories:
            written = [role for role in memory.holds if role not in read_only]
            if written and not memory.writable:
                raise ValueError(
                    f"memory {memory.name} is {memory.access} and cannot hold"
                    f" {', '.join(written)}"
                )
            if "kernels" in memory.holds and "x" not in memory.access:
                raise ValueError(
                    f"memory {memory.name} is {memory.access} and cannot hold kernels:"
                    " that takes access rwx"
                )
            low = memory.base < self.read_only_end and not memory.is_only_code
            if self.port == "cortexm" and memory.writable and low:
                raise ValueError(
                    f"memory {memory.name} is writable but below"
                    f" {self.read_only_end:#x}, which the cortexm port makes read-only"
                )
        return self


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
        known = names()
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        raise SdkError(
            f"unknown board '{name}'",
            hint=f"did you mean {near[0]}?" if near else f"one of: {', '.join(known)}",
        )
    return _of_file(path, name)


def computer(board: Board | None) -> Board:
    """This computer, with pointers as wide as the board's."""
    narrow = board is not None and board.pointer_bytes != 8
    return load("arm-user" if narrow else "host")


def _of_file(path: Path, name: str) -> Board:
    fields = board_layers.read(path)
    board = _checked(path, fields)
    if board.name != name:
        raise SdkError(f"{path}: its name is '{board.name}', its file says '{name}'")
    for what, remedy in fields.notes:
        output.note(what, remedy)
    return board


def read(path: Path) -> Board:
    """The board in the YAML file `path`, with every mistake in it named at once."""
    return _checked(path, board_layers.read(path))


def _checked(path: Path, fields: board_layers.Fields) -> Board:
    try:
        return Board.model_validate(fields.table)
    except ValidationError as error:
        raise fields.refusal(path, error) from error
