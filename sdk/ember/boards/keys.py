"""Keys of a board's YAML become records, which refuse unknown keys.

First what files of settings share, such as sizes (64K); then `memories:`, ranges of
addresses and what may be in them; `flash:` and `flashers:`, sectors and tools with
arguments; `uart:`, the serial port and the C that its drivers read; `start:`, what is
written to registers before the program starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ember import paths

_HERTZ = {"kHz": 1_000, "MHz": 1_000_000}
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def unknown_key(
    model: type[BaseModel], place: Sequence[str | int], more: Sequence[str] = ()
) -> str:
    """What is wrong with a key that `model` does not have at this place."""
    models = [model]
    for key in place[:-1]:  # also places in lists, and names of alternatives
        fields = [each.model_fields[key] for each in models if key in each.model_fields]
        if fields:
            models = [each for field in fields for each in _models(field.annotation)]
    keys = sorted({key for each in models for key in each.model_fields}.union(more))
    near = get_close_matches(str(place[-1]), keys, n=1)
    return f"unknown key: did you mean {near[0]}?" if near else "unknown key"


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _bytes(value: Any) -> Any:
    """512K -> 524288; numbers stay."""
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+)([KMG]?)", value)
        if match is None:
            raise ValueError(f"'{value}' is not a size: write 65536, 64K or 4M")
        return int(match[1]) * _UNITS[match[2]]
    return value


def size_of(value: Any) -> int:
    """Bytes of a size as it is written, such as 64K; ValueError says what is wrong."""
    size = _bytes(value)
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        raise ValueError(f"'{value}' is not a size: write 65536, 64K or 4M")
    return size


def hertz(value: Any) -> Any:
    """12.5MHz -> 12500000; numbers stay."""
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(kHz|MHz)", value)
        if match is None:
            raise ValueError(f"'{value}' is not a clock: write 16000000 or 16MHz")
        return round(float(match[1]) * _HERTZ[match[2]])
    return value


Size = Annotated[int, BeforeValidator(_bytes), Field(gt=0)]


# ---- memory --------------------------------------------------------------------------


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
    "kernels",  # code of kernels that a project moves here
]
ROLES_NEEDED: tuple[Role, ...] = ("vectors", "code", "rodata", "data", "stack")

# Processor cycles of an access of up to so many bytes; a wider one takes several.
Cycles = dict[int, float]
# Of memories that do not say what they take. Only how they compare matters.
_CYCLES_OF: dict[str, float] = {"tcm": 1, "sram": 1, "flash": 3, "dram": 8}


def _cycles(value: Any) -> Any:
    """3 -> {4: 3}; a table has a line for each width."""
    table = {4: value} if isinstance(value, int | float) else value
    if not isinstance(table, dict) or not table:
        raise ValueError(
            "write cycles, such as 3, or cycles for each access width in bytes, such"
            " as {4: 3, 8: 5}"
        )
    for width, cycles in table.items():
        if not isinstance(width, int) or width not in (1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError(
                f"{width} is not an access width in bytes: 1, 2, 4, .. 128"
            )
        if not isinstance(cycles, int | float) or not 0 < cycles <= 1000:
            raise ValueError(f"{cycles} cycles: must be above 0 and at most 1000")
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
    fetch_cycles: Annotated[Cycles, BeforeValidator(_cycles)] | None = None
    flash: Flash | None = None  # how it is programmed; None: it is not, or unknown

    def cycles(self, width: int, *, write: bool = False) -> float:
        """Of one access of `width` bytes; a write takes what a read does, unless the
        board says otherwise."""
        table = (self.write_cycles if write else None) or self.read_cycles
        table = table or {4: _CYCLES_OF[self.kind]}
        fitting = [widest for widest in table if widest >= width]
        if fitting:
            return table[min(fitting)]
        widest = max(table)
        return -(-width // widest) * table[widest]

    def fetching(self, size: int) -> float:
        """Cycles of fetching `size` bytes of code in a row, in accesses as wide as they
        can be; a fetch takes what a read does, unless the board says otherwise."""
        return size / max(self._fetches) * self.one_fetch

    @property
    def one_fetch(self) -> float:
        """Cycles of the widest fetch: what a jump to this memory waits for."""
        return self._fetches[max(self._fetches)]

    @property
    def _fetches(self) -> Cycles:
        return self.fetch_cycles or self.read_cycles or {4: _CYCLES_OF[self.kind]}

    @property
    def end(self) -> int:
        return self.base + self.size

    @property
    def writable(self) -> bool:
        return "w" in self.access

    @property
    def is_only_code(self) -> bool:
        """Whether nothing writes to it once the program runs."""
        return set(self.holds) <= {"vectors", "code", "rodata", "weights", "kernels"}

    @model_validator(mode="after")
    def _sectors_fill_it(self) -> Memory:
        problem = self.flash.problem(self.size) if self.flash else None
        if problem:
            raise ValueError(f"flash: {problem}")
        return self


# ---- flash facts ---------------------------------------------------------------------


class SectorRun(Strict):
    """Neighbouring sectors of one size; without a count they fill the memory."""

    size: Size
    count: int | None = Field(default=None, gt=0)


def _runs(value: Any) -> Any:
    """4K -> sectors of 4K to the end of the memory."""
    return value if isinstance(value, list | tuple) else [{"size": value}]


class Flash(Strict):
    """How a memory is erased and programmed."""

    sectors: Annotated[
        tuple[SectorRun, ...], BeforeValidator(_runs), Field(min_length=1)
    ]
    write: Size = 1  # bytes that are programmed at once, and their alignment
    erased: int = Field(default=0xFF, ge=0, le=0xFF)  # what an erased byte reads as

    def spans(self, base: int, size: int) -> Iterator[range]:
        """The addresses of every sector of a memory at `base`."""
        at, end = base, base + size
        for run in self.sectors:
            for _ in range(run.count or (end - at) // run.size):
                yield range(at, at + run.size)
                at += run.size

    def problem(self, size: int) -> str | None:
        """Why these sectors cannot be those of a memory of `size` bytes."""
        if any(run.count is None for run in self.sectors[:-1]):
            return "only the last group of sectors may leave out its count"
        counted = sum(run.size * (run.count or 0) for run in self.sectors)
        last = self.sectors[-1]
        rest = size - counted
        if last.count is None and rest > 0 and rest % last.size == 0:
            return None
        if last.count is not None and rest == 0:
            return None
        return f"its sectors add up to {counted} bytes, the memory has {size}"


class Probe(Strict):
    """The debug probe that is soldered to a board."""

    openocd: str  # its file of OpenOCD's scripts, -f
    transport: str | None = None  # to select: swd, jtag


class Identity(Strict):
    """A register that tells chips apart, readable before anything is set up."""

    at: Word
    mask: Word = 0xFFFF_FFFF  # bits that count
    value: Word


# ---- tools ---------------------------------------------------------------------------


class PyOcd(Strict):
    tool: Literal["pyocd"]
    target: str  # `pyocd list --targets`
    pack: str | None = None  # CMSIS-Pack of targets that are not built in
    frequency: int | None = Field(default=None, gt=0)  # Hz
    options: dict[str, str] = Field(default_factory=dict)  # -O name=value
    script: str | None = None  # user script


class OpenOcd(Strict):
    tool: Literal["openocd"]
    config: tuple[str, ...] = Field(min_length=1)  # -f FILE, of OpenOCD's scripts
    transport: str | None = None  # to select, after the first file: swd, jtag
    commands: tuple[str, ...] = ()  # -c, before init
    serial: str = "adapter serial {probe}"  # the command that chooses a probe
    load: Literal["program", "image"] = "program"  # image: memory that needs no driver


class JLink(Strict):
    tool: Literal["jlink"]
    device: str  # a name of SEGGER's list
    interface: Literal["swd", "jtag"] = "swd"
    speed: int = Field(default=4000, gt=0)  # kHz


class StFlash(Strict):
    tool: Literal["st-flash"]
    connect_under_reset: bool = False


class DfuUtil(Strict):
    tool: Literal["dfu-util"]
    vendor: int = Field(ge=0, lt=1 << 16)
    product: int = Field(ge=0, lt=1 << 16)
    alt: int = Field(default=0, ge=0)


class Uf2(Strict):
    tool: Literal["uf2"]
    family: Word  # of the chip, in every block
    volume: str  # label of the drive
    board_id: str | None = None  # of the drive's INFO_UF2.TXT: tells chips apart


class Gdb(Strict):
    tool: Literal["gdb"]
    remote: str | None = None  # HOST:PORT of the server; --probe gives another


Flasher = Annotated[
    PyOcd | OpenOcd | JLink | StFlash | DfuUtil | Uf2 | Gdb,
    Field(discriminator="tool"),
]


# ---- uart ----------------------------------------------------------------------------


_RATE_ERROR = 0.02  # of a baud rate


class UartPins(Strict):
    """Where the line comes out, for people; Nordic's UARTs are told it, too."""

    tx: str
    rx: str
    note: str = ""


class UartLine(Strict):
    """A serial port of a chip, and the clock that reset leaves it."""

    kind: Literal["cmsdk", "pl011", "stm32-v1", "stm32-v2", "nrf-uart", "nrf-uarte"]
    base: int = Field(ge=0)
    clock: Annotated[int, BeforeValidator(hertz), Field(gt=0)] | None = None


class Uart(UartLine):
    """The serial port that the test runner speaks through."""

    baud: int = Field(gt=0)
    pins: UartPins | None = None

    @property
    def is_nordic(self) -> bool:
        return self.kind.startswith("nrf-")

    @model_validator(mode="after")
    def _the_rate_can_be_had(self) -> Uart:
        if self.is_nordic:
            if self.clock is not None:
                raise ValueError("Nordic's UARTs have a fixed clock: leave out `clock`")
            for pin in (self.pins.tx, self.pins.rx) if self.pins else ("none",):
                nordic_pin(pin)
            return self
        if self.clock is None:
            raise ValueError(f"a UART of kind {self.kind} needs `clock`")
        steps = 4 if self.kind == "pl011" else 1  # of the divider, in a clock
        divider = (self.clock * steps + self.baud // 2) // self.baud
        if (
            divider < 16 * steps
            or abs(self.clock * steps / divider / self.baud - 1) > _RATE_ERROR
        ):
            raise ValueError(
                f"{self.clock} Hz cannot be divided to {self.baud} baud within 2 %"
            )
        return self


def nordic_pin(text: str) -> int:
    """P1.02 -> 34."""
    match = re.fullmatch(r"P([01])\.([0-3]\d)", text)
    if match is None or int(match[2]) > 31:
        raise ValueError(f"'{text}' is not a Nordic pin: write P0.06")
    return int(match[1]) * 32 + int(match[2])


# ---- for the compiler ----------------------------------------------------------------

_LINK = ("frame.c", "line.c", "link.c", "link_in.c", "link_out.c", "serial.c")


def runner(uart: Uart, port: str) -> list[Path]:
    """The C files of a runner that is fed over the line."""
    return _files(uart, port, *_LINK)


def console(uart: Uart, port: str) -> list[Path]:
    """The C files of a console that is the line."""
    return _files(uart, port, "console.c")


def _files(uart: Uart, port: str, *names: str) -> list[Path]:
    driver = f"uart_{uart.kind.replace('-', '_')}.c"
    folder = paths.runtime() / "port" / "uart"
    return [folder / name for name in (*names, driver, f"machine_{port}.c")]


def script_lines(uart: Uart, pointer_bytes: int) -> list[str]:
    """The constant `ember_uart` of uart.h, in a section of a linker script."""
    pins = [0, 0]
    if uart.is_nordic and uart.pins is not None:
        pins = [nordic_pin(uart.pins.tx), nordic_pin(uart.pins.rx)]
    return [
        f". = ALIGN({pointer_bytes});",
        "ember_uart = .;",
        f"{'QUAD' if pointer_bytes == 8 else 'LONG'}({uart.base:#010x})",
        *(f"LONG({word})" for word in (uart.clock or 0, uart.baud, *pins)),
    ]


# ---- steps ---------------------------------------------------------------------------


Word = Annotated[int, Field(ge=0, lt=1 << 32)]


class RegisterStep(Strict):
    """One access to a 32-bit register.

    Of these keys one, or `clear` and `set` together.
    """

    at: int = Field(ge=0, lt=1 << 32, multiple_of=4)
    write: Word | None = None  # the whole register
    clear: Word | None = None  # these bits, then
    set: Word | None = None  # those
    until_set: Word | None = None  # waits for all of these bits
    until_clear: Word | None = None

    @model_validator(mode="after")
    def _one_thing_is_done(self) -> RegisterStep:
        keys = self.model_fields_set - {"at"}
        if keys != {"clear", "set"} and len(keys) != 1:
            raise ValueError(
                "a step needs one of write, set, clear, until_set, until_clear, or"
                " clear with set"
            )
        return self

    @property
    def words(self) -> tuple[int, int, int]:
        """What the port reads: address (odd: wait), mask and value of these bits."""
        if self.write is not None:
            return self.at, 0xFFFF_FFFF, self.write
        if self.until_set is not None:
            return self.at | 1, self.until_set, self.until_set
        if self.until_clear is not None:
            return self.at | 1, self.until_clear, 0
        bits = self.set or 0
        return self.at, (self.clear or 0) | bits, bits
