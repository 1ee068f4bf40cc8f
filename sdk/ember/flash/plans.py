"""What a flash tool is asked for becomes a plan: files and command lines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ember.boards import Board
from ember.flash.blocks import Image


@dataclass(frozen=True)
class FlashOrder:
    """One flashing: which bytes, over which probe, in which manner."""

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
    chip: bool = False  # what it reads tells chips apart


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
        """The plan as a person may type it."""
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
    """The register that tells which chip it is; nothing where the board names none."""
    chip = order.board.identity
    if chip is None:
        return ()
    words = (chip.value.to_bytes(4, "little"), chip.mask.to_bytes(4, "little"))
    return (Read("chip.bin", chip.at, *words),)


def verb(order: FlashOrder) -> str:
    return "program and read back" if order.program else "read back"
