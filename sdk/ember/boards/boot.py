"""The key `boot:` of a board: what its chip's boot ROM reads before any code runs.

Addresses are counted from the beginning of the memory that holds the vectors:

    0 .. code    parts: the flash's configuration, a table of the image, a second stage
    code ..      the vectors, then `words`

Parts, given as files or by their facts, become bytes by address. For an i.MX RT Ember
makes the flash's configuration block, the image vector table and the boot data: NXP
IMXRT1060RM, chapter System Boot, "Image Vector Table and Boot Data", "FlexSPI
configuration block" (the first 448 bytes, for every serial memory) and "Serial NOR
configuration block" (the 64 bytes that follow). Of the sequences of commands only the
one that reads is given: the boot ROM runs no other. What is not named here is zero.

The second stage of an RP2040 is code: runtime_c/port/cortexm/boot_rp2040.S.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from ember.boards.keys import Memory, Size, Strict, Word, hertz

_LARGEST = 1 << 20  # bytes in front of the vectors
_VECTORS_ALIGN = 256
_SUM = 4  # bytes of a checksum


@dataclass(frozen=True)
class BootBlock:
    """Bytes in front of the vectors, from a file or made by Ember."""

    at: int
    data: bytes


class _Filled(Strict):
    """A range whose bytes a file may give; they are read with the board."""

    file: str | None = None
    content: str = Field(default="", pattern=r"^([0-9a-f]{2})*$")

    @model_validator(mode="before")
    @classmethod
    def _the_file_is_read(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not isinstance(given.get("file"), str):
            return given
        if "content" in given:  # of a board that was read before
            return given
        path = Path(given["file"])
        if not path.is_file():
            raise ValueError(f"{path} does not exist")
        try:
            if path.stat().st_size > _LARGEST:
                raise ValueError(f"{path} has more than {_LARGEST} bytes")
            data = path.read_bytes()
        except OSError as error:
            raise ValueError(f"cannot read {path}: {error.strerror}") from None
        if not data:
            raise ValueError(f"{path} is empty")
        return {**given, "content": data.hex()}

    @property
    def data(self) -> bytes:
        return bytes.fromhex(self.content)


Made = Literal[
    "rp2040", "imxrt-flash-configuration", "imxrt-vector-table", "imxrt-boot-data"
]


class BootPart(_Filled):
    """One thing that the boot ROM looks for."""

    what: str = Field(min_length=1)  # for people
    at: int = Field(ge=0, lt=_LARGEST)
    size: Size = Field(le=_LARGEST)
    # Its last four bytes are the sum of the others, and a file may lack them.
    checksum: Literal["crc32-mpeg2"] | None = None
    # By Ember: code of runtime_c/port/cortexm, or data made below.
    made: Made | None = None
    flexspi: FlexSpi | None = None  # of a flash configuration
    kept: bool = False  # written by others: Ember leaves it as it is

    @property
    def end(self) -> int:
        return self.at + self.size

    @property
    def is_missing(self) -> bool:
        return not (self.content or self.made or self.kept)

    @property
    def is_code(self) -> bool:
        """Whether Ember's code is the part."""
        return self.made == "rp2040" and not (self.content or self.kept)

    @property
    def is_data(self) -> bool:
        """Whether Ember makes its bytes from what it knows of the board."""
        return self.made not in (None, "rp2040") and not (self.content or self.kept)

    @property
    def bytes(self) -> bytes:
        """The file's, filled up to the size of the part."""
        room = self.size - (_SUM if self.checksum else 0)
        data = self.data[:room].ljust(room, b"\0")
        return data + (crc32_mpeg2(data) if self.checksum else b"")

    @model_validator(mode="after")
    def _only_a_flash_configuration_has_a_flash(self) -> BootPart:
        if self.flexspi and self.made != "imxrt-flash-configuration":
            raise ValueError("`flexspi` needs `made: imxrt-flash-configuration`")
        return self

    @model_validator(mode="after")
    def _the_file_fits(self) -> BootPart:
        room = self.size - (_SUM if self.checksum else 0)
        if len(self.data) > self.size or (
            len(self.data) > room and self.data != self.bytes
        ):
            least = " that end in a valid checksum" if self.checksum else ""
            raise ValueError(
                f"{self.file} has {len(self.data)} bytes; {self.what} takes"
                f" {room}{f', or {self.size}{least}' if least else ''}"
            )
        return self


class Boot(_Filled):
    """What is in front of the vectors and right behind them. `file` is all that is in
    front, in one piece."""

    code: int = Field(default=0, ge=0, le=_LARGEST, multiple_of=_VECTORS_ALIGN)
    parts: dict[str, BootPart] = Field(default_factory=dict)
    words: tuple[Word, ...] = ()

    @property
    def missing(self) -> list[str]:
        """What the boot ROM wants and nobody gives."""
        if self.content:
            return []
        return [part.what for part in self.parts.values() if part.is_missing]

    @property
    def made(self) -> str | None:
        """The code of Ember that is everything in front of the vectors."""
        parts = self.parts.values() if not self.content else ()
        return next((part.made for part in parts if part.is_code), None)

    @model_validator(mode="after")
    def _parts_lie_before_the_code(self) -> Boot:
        ordered = sorted(self.parts.items(), key=lambda item: item[1].at)
        for (name, part), (other, following) in itertools.pairwise(ordered):
            if part.end > following.at:
                raise ValueError(f"the parts {name} and {other} overlap")
        for name, part in ordered:
            if part.end > self.code:
                raise ValueError(
                    f"{name} ends at {part.end:#x}, but the code begins at"
                    f" {self.code:#x}: set `code`"
                )
            if part.is_code and (part.at, part.end) != (0, self.code):
                raise ValueError(
                    f"{name} is generated by Ember and must fill"
                    " everything before `code`"
                )
        if len(self.data) > self.code:
            raise ValueError(
                f"{self.file} has {len(self.data)} bytes, but the code begins at"
                f" {self.code:#x}"
            )
        return self


def crc32_mpeg2(data: bytes) -> bytes:
    """The sum that RP2040's boot ROM computes of its second stage, little-endian."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C1_1DB7 if crc >> 31 else 0)) & 0xFFFF_FFFF
    return crc.to_bytes(4, "little")


# ---- images --------------------------------------------------------------------------


_TABLE_HEADER = struct.pack(">BHB", 0xD1, 32, 0x41)  # tag, length, version


def blocks(boot: Boot, memory: Memory) -> list[BootBlock]:
    """The blocks in front of the vectors in `memory`, by address, without code. Raises
    ValueError if a part cannot be made."""
    if boot.content:
        return [BootBlock(0, boot.data)]
    blocks = [
        BootBlock(part.at, part.bytes if part.content else _made(part, boot, memory))
        for part in boot.parts.values()
        if part.content or part.is_data
    ]
    return sorted(blocks, key=lambda block: block.at)


def _made(part: BootPart, boot: Boot, memory: Memory) -> bytes:
    if part.made == "imxrt-flash-configuration":
        data = block(part.flexspi or FlexSpi(), memory)
    elif part.made == "imxrt-vector-table":
        data = _vector_table(part, boot, memory)
    else:
        data = _boot_data(memory)
    if part.size != len(data):
        raise ValueError(f"{part.what} has {len(data)} bytes, not {part.size}")
    return data


def _vector_table(part: BootPart, boot: Boot, memory: Memory) -> bytes:
    """Its entry is where the vectors are; no configuration of devices, no signature."""
    facts = boot.parts.get("boot_data")
    if facts is None:
        raise ValueError(f"{part.what} names the part `boot_data`, and there is none")
    entry = memory.base + boot.code
    words = (entry, 0, 0, memory.base + facts.at, memory.base + part.at, 0, 0)
    return _TABLE_HEADER + struct.pack("<7I", *words)


def _boot_data(memory: Memory) -> bytes:
    """The image begins with the flash and may fill it; it is not a plug-in."""
    return struct.pack("<III", memory.base, memory.size, 0)


# ---- FlexSPI -------------------------------------------------------------------------


SIZE = 512
_TAG = 0x4246_4346  # FCFB in memory
_VERSION = 0x5601_0400  # V 1.4.0
_CLOCKS = {30: 1, 50: 2, 60: 3, 75: 4, 80: 5, 100: 6}  # MHz -> what the ROM calls it
_LOOPED_INSIDE = 60_000_000  # Hz that reads bear without the pad DQS (IMXRT1060CEC)
_RECOMMENDED_CYCLES = 3  # the chip is selected before and after an access
_SERIAL_NOR = 1
_ADDRESS_BITS = 24
_COMMAND, _ADDRESS, _READ, _DUMMY = 0x01, 0x02, 0x09, 0x0C  # of a sequence
_PADS = {1: 0, 2: 1, 4: 2}


class FlexSpi(Strict):
    """How the flash chip is read in place; as it is, by what every one understands."""

    clock: Annotated[int, BeforeValidator(hertz)] = 30_000_000
    dqs_pad: bool = (
        False  # the clock comes back through the pad, which is not connected
    )
    command: int = Field(default=0x03, ge=0, le=0xFF)
    address_lines: Literal[1, 2, 4] = 1
    lines: Literal[1, 2, 4] = 1  # of data
    dummy_cycles: int = Field(default=0, ge=0, le=0xFF)  # between address and data

    @model_validator(mode="after")
    def _the_clock_is_one_of_the_roms(self) -> FlexSpi:
        if self.clock not in [known * 1_000_000 for known in _CLOCKS]:
            known = ", ".join(f"{clock}MHz" for clock in _CLOCKS)
            raise ValueError(f"`clock` is not one that the boot ROM sets: {known}")
        if self.clock > _LOOPED_INSIDE and not self.dqs_pad:
            raise ValueError("a `clock` above 60MHz needs `dqs_pad: true`")
        return self


def block(flash: FlexSpi, memory: Memory) -> bytes:
    """The block for `flash`, whose size, sectors and pages are those of `memory`."""
    if memory.flash is None or len(memory.flash.sectors) != 1:
        raise ValueError(
            f"a flash configuration needs `flash: {{sectors, write}}` of {memory.name},"
            " with sectors of one size"
        )
    if memory.size > 1 << _ADDRESS_BITS:
        raise ValueError(
            f"a flash configuration reads with {_ADDRESS_BITS} bits of address, and"
            f" {memory.name} has more than 16M: give a `file`"
        )
    content = bytearray(SIZE)
    struct.pack_into("<II", content, 0x000, _TAG, _VERSION)
    cycles = _RECOMMENDED_CYCLES
    struct.pack_into("<BBB", content, 0x00C, flash.dqs_pad, cycles, cycles)
    clock = _CLOCKS[flash.clock // 1_000_000]
    struct.pack_into("<BBB", content, 0x044, _SERIAL_NOR, flash.lines, clock)
    struct.pack_into("<I", content, 0x050, memory.size)  # at the first chip select, A1
    read = _read_sequence(flash)
    struct.pack_into(f"<{len(read)}H", content, 0x080, *read)
    page, sector = memory.flash.write, memory.flash.sectors[0].size
    struct.pack_into("<IIB", content, 0x1C0, page, sector, _CLOCKS[30])
    return bytes(content)


def _read_sequence(flash: FlexSpi) -> list[int]:
    """Command, address, pause, data; what follows in the table is zero: stop."""
    steps = [
        (_COMMAND, 1, flash.command),
        (_ADDRESS, flash.address_lines, _ADDRESS_BITS),
    ]
    if flash.dummy_cycles:
        steps.append((_DUMMY, flash.lines, flash.dummy_cycles))
    steps.append((_READ, flash.lines, 4))
    return [code << 10 | _PADS[lines] << 8 | operand for code, lines, operand in steps]
