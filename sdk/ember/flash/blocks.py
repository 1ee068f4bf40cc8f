"""Segments of a firmware become blocks to write, checked for the board's flash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.boards import Board, Memory
from ember.errors import SdkError
from ember.toolchain import elf, image
from ember.toolchain.image import ImageSegment


@dataclass(frozen=True)
class Image:
    """What a tool writes. No two blocks touch the same sector."""

    blocks: tuple[ImageSegment, ...]
    start: int  # where the table of vectors lies

    @property
    def size(self) -> int:
        return sum(len(block.data) for block in self.blocks)

    def hex(self) -> bytes:
        return image.intel_hex(self.blocks).encode("ascii")


def read(path: Path, board: Board) -> Image:
    """The firmware in the ELF file `path`; an SdkError when it is none for `board`."""
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
            blocks += _of_memory(path, memory, inside)
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


def _of_memory(
    path: Path, memory: Memory, parts: Sequence[ImageSegment]
) -> list[ImageSegment]:
    """Segments that share or touch a sector joined, the gap between them erased."""
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
    """Whole units of what is programmed at once."""
    before = block.address % unit
    after = -(_end(block)) % unit
    return ImageSegment(
        block.address - before, erased * before + block.data + erased * after
    )


def _end(block: ImageSegment) -> int:
    return block.address + len(block.data)


def _sector(spans: Sequence[range], address: int) -> range | None:
    return next((span for span in spans if address in span), None)
