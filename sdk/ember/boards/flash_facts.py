"""The keys `flash:` and `flashers:` of a board: sectors, and tools with arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ember.boards.steps import Word
from ember.boards.strict import Size, Strict


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
