"""Firmware becomes an image in blocks, what a flash tool is asked for a plan.

A plan has files and command lines. The blocks of an image are checked for the board's
flash.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ember.boards import Board, Memory
from ember.errors import SdkError
from ember.toolchain import elf, image
from ember.toolchain.image import ImageSegment

# ---- the image -----------------------------------------------------------------------


@dataclass(frozen=True)
class Image:
    """What a tool writes. No two blocks touch the same sector."""

    blocks: tuple[ImageSegment, ...]
    start: int  # address of the vector table

    @property
    def size(self) -> int:
        return sum(len(block.data) for block in self.blocks)

    def hex(self) -> bytes:
        return image.intel_hex(self.blocks).encode("ascii")


def read_image(path: Path, board: Board) -> Image:
    """The firmware in an ELF file. Raises SdkError if it is not for `board`."""
    program = elf.read(path)
    if program.machine != (elf.EM_AARCH64 if board.port == "a64" else elf.EM_ARM):
        raise SdkError(
            f"{path} is not firmware for the processor of {board.name}",
            hint=f"build it with `ember build MODEL --board {board.name}`",
        )
    vectors = program.symbol("__ember_vectors_start")
    parts = image.segments(path)
    if not parts:
        raise SdkError(f"{path} has nothing to write")
    start = vectors.address if vectors else parts[0].address
    return Image(tuple(_blocks(path, board, parts)), start)


def _blocks(
    path: Path, board: Board, parts: Sequence[ImageSegment]
) -> list[ImageSegment]:
    blocks: list[ImageSegment] = []
    for memory in board.memories:
        inside = [part for part in parts if memory.base <= part.address < memory.end]
        if inside and memory.flash is None:
            flash = [item.name for item in board.memories if item.flash]
            raise SdkError(
                f"{path} has {len(inside[0].data)} bytes at {inside[0].address:#010x}"
                f" in {memory.name}, which `ember flash` cannot write",
                hint=f"memories of {board.name} with `flash`: {', '.join(flash)}",
            )
        if inside:
            blocks += _blocks_of(path, memory, inside)
    covered = sum(len(block.data) for block in blocks)
    if covered < sum(len(part.data) for part in parts):
        lost = next(
            part
            for part in parts
            if not any(m.base <= part.address < m.end for m in board.memories)
        )
        raise SdkError(
            f"{path} has {len(lost.data)} bytes at {lost.address:#010x}, outside the"
            f" memories of {board.name}",
            hint=f"was it built for another board? `ember boards {board.name}`",
        )
    return blocks


def _blocks_of(
    path: Path, memory: Memory, parts: Sequence[ImageSegment]
) -> list[ImageSegment]:
    """Joins segments that share or touch a sector, with erased bytes between them."""
    assert memory.flash is not None
    last = parts[-1].address + len(parts[-1].data)
    if last > memory.end:
        raise SdkError(
            f"{path} is {last - memory.end} bytes larger than {memory.name}"
            f" ({memory.size:,} bytes)"
        )
    spans = list(memory.flash.spans(memory.base, memory.size))
    erased = bytes([memory.flash.erased])
    joined: list[ImageSegment] = []
    for part in parts:
        if joined and _sector(spans, _end(joined[-1]) - 1) == _sector(
            spans, part.address
        ):
            before = joined.pop()
            gap = erased * (part.address - _end(before))
            joined.append(ImageSegment(before.address, before.data + gap + part.data))
        else:
            joined.append(part)
    return [_aligned(block, memory.flash.write, erased) for block in joined]


def _aligned(block: ImageSegment, unit: int, erased: bytes) -> ImageSegment:
    """Pads a block to whole units of `unit` bytes, which are programmed at once."""
    before = block.address % unit
    after = -(_end(block)) % unit
    return ImageSegment(
        block.address - before, erased * before + block.data + erased * after
    )


def _end(block: ImageSegment) -> int:
    return block.address + len(block.data)


def _sector(spans: Sequence[range], address: int) -> range | None:
    return next((span for span in spans if address in span), None)


# ---- orders and plans ----------------------------------------------------------------


@dataclass(frozen=True)
class FlashOrder:
    """What to flash: the image, the board and its probe, and how."""

    board: Board
    image: Image
    probe: str | None = None  # None: the only one
    program: bool = True  # False: only compare
    extra: tuple[str, ...] = ()  # words for the tool's command line


@dataclass(frozen=True)
class Read:
    """A file that a step writes, and what it must hold."""

    file: str
    address: int
    data: bytes
    mask: bytes | None = None  # bits that count; None: all

    @property
    def command(self) -> tuple[str, str, str]:
        return self.file, f"{self.address:#010x}", str(len(self.data))


@dataclass(frozen=True)
class ToolRun:
    """One run of a tool, or of the copying of a file to a drive (argv[0] is `copy`)."""

    what: str  # "program", for people
    argv: tuple[str, ...]  # files by their names in the plan's folder
    reads: tuple[Read, ...] = ()
    chip: bool = False  # it reads the chip's identity


@dataclass(frozen=True)
class FlashPlan:
    tool: str
    steps: tuple[ToolRun, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    verifies: bool = True  # False: the tool cannot read back

    def to_json(self) -> dict[str, Any]:
        return {
            "tool": self.tool,
            "files": [
                {"name": name, "bytes": len(data)} for name, data in self.files.items()
            ],
            "steps": [
                {
                    "what": step.what,
                    "argv": list(step.argv),
                    "reads": [
                        {
                            "file": read.file,
                            "address": read.address,
                            "bytes": len(read.data),
                        }
                        for read in step.reads
                    ],
                }
                for step in self.steps
            ],
            "verifies": self.verifies,
        }

    def lines(self) -> list[str]:
        """The plan as commands that a person can type."""
        lines = []
        for name, data in self.files.items():
            lines.append(f"file {name}: {len(data)} bytes")
            if name.endswith((".gdb", ".jlink")):
                lines += [f"    {line}" for line in data.decode().splitlines()]
        for step in self.steps:
            lines.append(f"{step.what}: {shlex.join(step.argv)}")
            lines += [
                f"    compare {read.file}: {len(read.data)} bytes of {read.address:#x}"
                for read in step.reads
            ]
        return lines


# ---- what several tools share --------------------------------------------------------


def read_back(order: FlashOrder) -> tuple[Read, ...]:
    """The image's blocks as files that a tool reads from the board."""
    return tuple(
        Read(f"read{index}.bin", block.address, block.data)
        for index, block in enumerate(order.image.blocks)
    )


def chip_read(order: FlashOrder) -> tuple[Read, ...]:
    """The register with the chip's identity, if the board names it."""
    chip = order.board.identity
    if chip is None:
        return ()
    words = (chip.value.to_bytes(4, "little"), chip.mask.to_bytes(4, "little"))
    return (Read("chip.bin", chip.at, *words),)


def verb(order: FlashOrder) -> str:
    return "program and read back" if order.program else "read back"
