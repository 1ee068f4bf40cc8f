"""A serial flash on the FlexSPI of an i.MX RT becomes its flash configuration block.

Offsets and values: NXP IMXRT1060RM, chapter System Boot, "FlexSPI configuration block"
(the first 448 bytes, for every serial memory) and "Serial NOR configuration block" (the
64 bytes that follow). Of the sequences of commands only the one that reads is given: it
is all that the boot ROM runs. What is not named here is zero.
"""

from __future__ import annotations

import struct
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from ember.boards.memory import Memory
from ember.boards.strict import Strict, hertz

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
