"""Board descriptions: boards/<name>.yaml becomes a checked `Board`."""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from ember import documents, isa, paths
from ember.errors import SdkError, problem_list
from ember.flash_facts import Chip, Flash, Flasher, Gdb
from ember.steps import Step, Word
from ember.strict import Size, Strict
from ember.uart import Uart

# What a memory may hold; a linker script places each role in the first memory of the
# board that holds it and has the room.
Role = Literal[
    "vectors",
    "code",
    "rodata",
    "data",
    "stack",
    "weights",  # the model and its constants
    "method",  # values and node states
    "planned",  # activations
    "temp",  # scratch of one node
    "io",  # inputs and outputs that the caller binds
    "batch",  # what a test runner loads at run time
]
ROLES_NEEDED: tuple[Role, ...] = ("vectors", "code", "rodata", "data", "stack")
# Ports of Cortex-M make this part of the address space read-only, or less of it.
CORTEXM_READ_ONLY_END = 0x2000_0000
_ARMV8M = ("cortex-m33", "cortex-m55")

# Processor cycles of an access of up to so many bytes; a wider one takes several.
Cycles = dict[int, float]
# Of memories that do not say what they take. Only how they compare matters.
_CYCLES_OF: dict[str, float] = {"tcm": 1, "sram": 1, "flash": 3, "dram": 8}


def _cycles(value: Any) -> Any:
    """3 -> {4: 3}; a table has a line for each width."""
    table = {4: value} if isinstance(value, int | float) else value
    if not isinstance(table, dict) or not table:
        raise ValueError(
            "write cycles, as 3, or by bytes of an access, as {4: 3, 8: 5}"
        )
    for width, cycles in table.items():
        if not isinstance(width, int) or width not in (1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError(f"{width} is not the width of an access: 1, 2, 4, .. 128")
        if not isinstance(cycles, int | float) or not 0 < cycles <= 1000:
            raise ValueError(f"{cycles} cycles are not above 0 and up to 1000")
    return table


class Memory(Strict):
    """One range of addresses, in bytes."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    base: int = Field(ge=0)
    size: Size
    access: Literal["rx", "rw", "rwx"]
    kind: Literal["flash", "sram", "tcm", "dram"]
    holds: tuple[Role, ...] = Field(min_length=1)
    read_cycles: Annotated[Cycles, BeforeValidator(_cycles)] | None = None
    write_cycles: Annotated[Cycles, BeforeValidator(_cycles)] | None = None
    flash: Flash | None = None  # how it is programmed; None: it is not, or unknown

    def cycles(self, width: int, *, write: bool = False) -> float:
        """Of one access of `width` bytes; a write takes what a read does, unless the
        board says otherwise."""
        table = (self.write_cycles if write else None) or self.read_cycles
        table = table or {4: _CYCLES_OF[self.kind]}
        fitting = [one for one in table if one >= width]
        if fitting:
            return table[min(fitting)]
        widest = max(table)
        return -(-width // widest) * table[widest]

    @property
    def end(self) -> int:
        return self.base + self.size

    @property
    def writable(self) -> bool:
        return "w" in self.access

    @model_validator(mode="after")
    def _sectors_fill_it(self) -> Memory:
        problem = self.flash.problem(self.size) if self.flash else None
        if problem:
            raise ValueError(f"flash: {problem}")
        return self


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
            raise ValueError(f"a runner of kind {self.kind} names its binary")
        return self


class Board(Strict):
    """Everything the SDK knows about one board."""

    name: str
    title: str
    cpu: str
    isa: tuple[str, ...]
    svl: Literal[128, 256, 512, 1024, 2048] | None = None  # bits; with SME
    toolchains: tuple[str, ...] = Field(min_length=1)
    port: Literal["cortexm", "a64", "linux_user", "host", "library"]
    internal: bool = False  # used by the SDK itself, not offered to users
    sanitize: tuple[str, ...] = ()
    memories: tuple[Memory, ...] = Field(min_length=1)
    start: tuple[Step, ...] = ()  # before anything else: clocks, pins, memories
    boot_stage: Literal["rp2040"] | None = None  # 256 bytes in front of the vectors
    boot_words: tuple[Word, ...] = ()  # behind them, for the chip's boot ROM
    console: Literal["semihosting", "stderr", "uart"]
    uart: Uart | None = None
    runner: Runner = Runner(kind="none")
    chip: Chip | None = None  # read before flashing: is it this chip?
    flashers: tuple[Flasher, ...] = ()  # the first is what `ember flash` takes
    # How these facts were checked, and where they are from.
    verified: Literal["hardware", "qemu", "datasheet"] = "qemu"
    sources: tuple[str, ...] = ()

    @property
    def toolchain(self) -> str:
        """The toolchain to use when nobody asks for another."""
        return self.toolchains[0]

    @property
    def pointer_bytes(self) -> int:
        return 8 if self.port in ("a64", "host") else 4

    @property
    def has_script(self) -> bool:
        """Whether Ember writes the linker script, so that sections go where it says."""
        return self.port not in ("host", "library")

    @property
    def read_only_end(self) -> int:
        """Where memory that the Cortex-M port protects from stores ends: at the first
        that can be written, where the MPU takes any address (Armv8-M)."""
        writable = [one.base for one in self.memories if one.writable and one.base]
        ends = writable if self.cpu in _ARMV8M else []
        return min([CORTEXM_READ_ONLY_END, *ends])

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
        for one in self.flashers:
            if tool in (None, one.tool):
                return one
        if tool == "gdb" and any(memory.flash for memory in self.memories):
            return Gdb(tool="gdb")  # it needs no facts but the address of a server
        known = ", ".join(one.tool for one in self.flashers)
        raise SdkError(
            f"board {self.name} names no flasher{f' {tool!r}' if tool else ''}",
            hint=f"it has: {known}" if known else "add `flashers:` to its file",
        )

    def memories_for(self, role: Role) -> tuple[Memory, ...]:
        """The memories that may hold `role`, in the board's order."""
        return tuple(memory for memory in self.memories if role in memory.holds)

    @model_validator(mode="after")
    def _only_a_port_that_walks_them_has_steps(self) -> Board:
        if self.start and self.port != "cortexm":
            raise ValueError(f"the port {self.port} takes no start")
        return self

    @model_validator(mode="after")
    def _a_console_has_its_line(self) -> Board:
        if self.console == "uart" and self.uart is None:
            raise ValueError("console is uart, but no `uart:` says which")
        if self.console == "uart" and self.port not in ("cortexm", "a64"):
            raise ValueError(f"the port {self.port} has no console on a uart")
        return self

    @model_validator(mode="after")
    def _what_was_not_run_names_its_sources(self) -> Board:
        if self.verified == "datasheet" and not self.sources:
            raise ValueError("facts from a datasheet name it under sources")
        if self.verified == "qemu" and self.runner.kind == "none":
            raise ValueError("verified is qemu, but no runner says how")
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
                "svl is the bits of a vector in streaming mode: boards with sme say it,"
                " others do not"
            )
        return self

    @model_validator(mode="after")
    def _roles_have_a_memory(self) -> Board:
        missing = [role for role in ROLES_NEEDED if not self.memories_for(role)]
        if missing:
            raise ValueError(f"no memory holds {', '.join(missing)}")
        return self

    @model_validator(mode="after")
    def _flashers_differ(self) -> Board:
        tools = [one.tool for one in self.flashers]
        if len(set(tools)) != len(tools):
            raise ValueError("a tool is listed twice under flashers")
        if self.flashers and not any(one.flash for one in self.memories):
            raise ValueError("it has flashers, but no memory with `flash`")
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
        read_only = {"vectors", "code", "rodata", "weights"}
        for memory in self.memories:
            written = [role for role in memory.holds if role not in read_only]
            if written and not memory.writable:
                raise ValueError(
                    f"memory {memory.name} is {memory.access} and cannot hold"
                    f" {', '.join(written)}"
                )
            low = memory.base < self.read_only_end
            if self.port == "cortexm" and memory.writable and low:
                raise ValueError(
                    f"memory {memory.name} is writable but below"
                    f" {self.read_only_end:#x}, which the cortexm port makes read-only"
                )
        return self


def names(*, internal: bool = False) -> list[str]:
    """The names of all boards, sorted; internal ones only when asked for."""
    found = sorted(path.stem for path in paths.boards().glob("*.yaml"))
    return [name for name in found if internal or not load(name).internal]


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


def _of_file(path: Path, name: str) -> Board:
    board = read(path)
    if board.name != name:
        raise SdkError(f"{path}: its name is '{board.name}', its file says '{name}'")
    return board


def read(path: Path) -> Board:
    """The board in the YAML file `path`, with every mistake in it named at once."""
    try:
        return Board.model_validate(_fields(path))
    except ValidationError as error:
        raise SdkError(
            problem_list(str(path), [_sentence(item) for item in error.errors()]),
            hint="compare with the boards that `ember boards` lists",
        ) from error


def _fields(path: Path) -> Any:
    """What the file says, over what the board says that it is `like:`."""
    data = documents.read_yaml(path)
    if not isinstance(data, dict) or "like" not in data:
        return data
    like = str(data.pop("like"))
    places = [path.with_name(f"{like}.yaml"), paths.boards() / f"{like}.yaml"]
    base = next((one for one in places if one.is_file()), None)
    if base is None:
        raise SdkError(f"{path}: like: there is no board '{like}'")
    described = documents.read_yaml(base)
    if not isinstance(described, dict):
        raise SdkError(f"{base} is no mapping, so no board can be like it")
    if "like" in described:
        raise SdkError(f"{path}: like: {like} is itself like another board")
    return _over(described, data)


def _over(base: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """`base` with the fields of `data`; those that are mappings field by field."""
    found = dict(base)
    for key, value in data.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        found[key] = _over(base[key], value) if both else value
    return found


def _sentence(item: Any) -> str:
    """pydantic's error as 'memories.1.size: message'."""
    place = ".".join(str(part) for part in item["loc"])
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
