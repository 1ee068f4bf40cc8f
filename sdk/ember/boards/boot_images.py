"""Parts of `boot:`, given as files or by their facts, become bytes by address.

Of an i.MX RT Ember makes the flash's configuration (flexspi.py), the image vector table
and the boot data: NXP IMXRT1060RM, chapter System Boot, "Image Vector Table and Boot
Data". The second stage of an RP2040 is code: runtime_c/port/cortexm/boot_rp2040.S.
"""

from __future__ import annotations

import struct

from ember.boards import flexspi
from ember.boards.boot_facts import Boot, BootBlock, BootPart
from ember.boards.memory import Memory

_TABLE_HEADER = struct.pack(">BHB", 0xD1, 32, 0x41)  # tag, length, version


def blocks(boot: Boot, memory: Memory) -> list[BootBlock]:
    """What lies in front of the vectors in `memory`, by address; ValueError when a part
    cannot be made. Code is none of it."""
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
        data = flexspi.block(part.flexspi or flexspi.FlexSpi(), memory)
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
    """The image begins with the flash and may fill it; it is no plug-in of the ROM."""
    return struct.pack("<III", memory.base, memory.size, 0)
