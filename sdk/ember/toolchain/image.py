"""A linked firmware becomes images to flash, and a report of where its bytes are."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ember import files
from ember.boards import Board
from ember.errors import SdkError
from ember.toolchain import elf

_LARGEST_GAP = 16 * 1024 * 1024  # a .bin holds the gaps; beyond this, one file a memory
_LINE = 16  # data bytes of a line of Intel HEX


@dataclass(frozen=True)
class ImageSegment:
    """Bytes that a programmer writes to `address`."""

    address: int
    data: bytes


def segments(firmware: Path) -> list[ImageSegment]:
    """What the ELF file loads, by physical address; an SdkError when it is broken."""
    data = files.read(firmware, what="the firmware")
    try:
        loaded = _segments(data)
    except (struct.error, IndexError) as error:
        raise SdkError(f"{firmware} is a broken ELF file") from error
    if any(address + len(part) < end for address, part, end in loaded):
        raise SdkError(f"{firmware} is a truncated ELF file")
    return [ImageSegment(address, part) for address, part, _ in sorted(loaded)]


def _segments(data: bytes) -> list[tuple[int, bytes, int]]:
    """Address, the bytes there, and the end."""
    wide = data[4] == 2
    table, size, count = (
        (*struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54))
        if wide
        else (*struct.unpack_from("<I", data, 28), *struct.unpack_from("<HH", data, 42))
    )
    loaded = []
    for index in range(count):
        at = table + index * size
        if wide:
            kind, _, offset, _, address, length = struct.unpack_from(
                "<IIQQQQ", data, at
            )
        else:
            kind, offset, _, address, length = struct.unpack_from("<IIIII", data, at)
        if kind == 1 and length > 0:
            part = data[offset : offset + length]
            loaded.append((address, part, address + length))
    return loaded


def write_images(firmware: Path, board: Board) -> list[Path]:
    """Write .bin and .hex beside the ELF file; nothing for boards without flash."""
    if board.port not in ("cortexm", "a64"):
        return []
    parts = segments(firmware)
    hexadecimal = firmware.with_suffix(".hex")
    hexadecimal.write_text(intel_hex(parts), encoding="ascii")
    return [hexadecimal, *_write_binaries(firmware, parts)]


def _write_binaries(firmware: Path, parts: list[ImageSegment]) -> list[Path]:
    groups: list[list[ImageSegment]] = []
    for part in parts:
        if groups and part.address - groups[-1][-1].address < _LARGEST_GAP:
            groups[-1].append(part)
        else:
            groups.append([part])
    written = []
    for group in groups:
        tag = "" if len(groups) == 1 else f"-{group[0].address:08x}"
        path = firmware.with_name(f"{firmware.stem}{tag}.bin")
        path.write_bytes(flat(group))
        written.append(path)
    return written


def flat(parts: Iterable[ImageSegment]) -> bytes:
    """The segments in one piece; gaps read as erased flash does."""
    content = bytearray()
    start: int | None = None
    for part in parts:
        start = part.address if start is None else start
        content += b"\xff" * (part.address - start - len(content))
        content += part.data
    return bytes(content)


def intel_hex(parts: Iterable[ImageSegment]) -> str:
    lines: list[str] = []
    upper = -1
    for part in parts:
        for at in range(0, len(part.data), _LINE):
            address = part.address + at
            if address >> 16 != upper:
                upper = address >> 16
                lines.append(_record(0, 4, upper.to_bytes(2, "big")))
            # A line never crosses a border of 64 K: it would wrap around.
            data = part.data[at : at + _LINE]
            room = 0x10000 - (address & 0xFFFF)
            lines.append(_record(address & 0xFFFF, 0, data[:room]))
            if len(data) > room:
                upper += 1
                lines.append(_record(0, 4, upper.to_bytes(2, "big")))
                lines.append(_record(0, 0, data[room:]))
    return "\n".join([*lines, _record(0, 1, b""), ""])


def _record(address: int, kind: int, data: bytes) -> str:
    body = bytes([len(data), address >> 8, address & 0xFF, kind]) + data
    return f":{body.hex().upper()}{-sum(body) & 0xFF:02X}"


# ---- sizes -------------------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """Bytes of a firmware; `arena` and `stack` are what the plan placed."""

    code: int
    rodata: int
    data: int
    bss: int
    model: int
    arena: int
    stack: int

    @property
    def total(self) -> int:
        return sum(self.to_json().values())

    def to_json(self) -> dict[str, int]:
        names = ("code", "rodata", "data", "bss", "model", "arena", "stack")
        return {name: getattr(self, name) for name in names}


def sizes(firmware: Path, board: Board, model_bytes: int, arena_bytes: int) -> Sizes:
    """The sizes of a firmware by its sections."""
    program = elf.read(firmware)
    total = {"code": 0, "rodata": 0, "data": 0, "bss": 0, "model": 0}
    total |= {"arena": 0, "stack": 0}
    for section in program.sections:
        if section.in_memory:
            total[_kind(section)] += section.size
    if board.port == "host":  # no sections of their own there
        total["rodata"] -= model_bytes
        total["bss"] -= arena_bytes
        total["model"], total["arena"] = model_bytes, arena_bytes
    if board.port == "linux_user":  # the arena's section takes all that is left
        total["arena"] = arena_bytes
    return Sizes(**total)


def _kind(section: elf.Section) -> str:
    if section.name.startswith(".ember_model"):
        return "model"
    if section.name.startswith(".ember_arena"):
        return "arena"
    if section.name == ".ember_stack":
        return "stack"
    if section.flags & elf.SHF_EXECINSTR:
        return "code"
    if not section.in_file:
        return "bss"
    return "data" if section.flags & elf.SHF_WRITE else "rodata"
