"""The code of a firmware becomes its instructions, by address."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.errors import SdkError
from ember.toolchain import tools
from ember.toolchain.traces import Block

OBJDUMP = "llvm-objdump-19"
_LINE = re.compile(r"^\s*([0-9a-f]+): (.*)$")
_NOTE = re.compile(r"\s*(@|//|<).*$")


@dataclass(frozen=True)
class Instruction:
    size: int  # bytes
    text: str  # mnemonic and operands, a blank between

    @property
    def mnemonic(self) -> str:
        return self.text.partition(" ")[0]

    @property
    def operands(self) -> str:
        return self.text.partition(" ")[2]


Code = Mapping[int, Instruction]


def of_firmware(firmware: Path, cpu: str, triple: str | None = None) -> Code:
    """Every instruction of a linked firmware, as it was compiled for `cpu`."""
    words = [tools.path(OBJDUMP), "-d", f"--mcpu={cpu}", str(firmware)]
    if triple is not None:
        words.insert(1, f"--triple={triple}")
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SdkError(f"{OBJDUMP} cannot read {firmware}: {done.stderr.strip()[:300]}")
    return parse(done.stdout)


def parse(listing: str) -> Code:
    """The instructions of what llvm-objdump prints."""
    code: dict[int, Instruction] = {}
    for line in listing.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        encoded, _, text = match[2].partition("\t")
        digits = sum(len(word) for word in encoded.split())
        words = _NOTE.sub("", text.replace("\t", " ")).split()
        if words and digits:
            code[int(match[1], 16)] = Instruction(digits // 2, " ".join(words))
    return code


def of_block(code: Code, block: Block) -> Sequence[Instruction]:
    """The instructions of a block; fewer, where the firmware has no code."""
    row: list[Instruction] = []
    address = block.address
    while len(row) < block.instructions and address in code:
        row.append(code[address])
        address += row[-1].size
    return row
