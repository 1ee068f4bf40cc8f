#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boards one can buy x two models -> what the firmware takes, or how many bytes lack.

    tools/real_boards.py                     every board that has flashers, as a table
    tools/real_boards.py --board rpi-pico    this one; repeatable
    tools/real_boards.py --check             is the table in docs/boards.md current?
    tools/real_boards.py --write             put the table there, or the rows of --board

The models are the digit classifier in float32, and DS-CNN in int8 as exported for the
board's core (tests/boards). Nothing is run: verified is what the boards' files say.
Exit status 1 when a build fails for another reason than room, or the table is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ember import boards
from ember.boards import Board
from ember.firmware import build
from ember.firmware.advice.refusal import TooSmallError
from ember.flash import plans

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "boards.md"
MARK = "<!-- tools/real_boards.py -->\n"
DIGITS = ROOT / "examples" / "models" / "digits" / "digits.pte"
# What ExecuTorch's Cortex-M flow exports for; the other cores of Cortex-M are m4's.
TARGETS = {"cortex-m0": "m0", "cortex-m0plus": "m0", "cortex-m3": "m0"}
TARGETS |= {"cortex-m55": "m55"}
MODELS = ("digits", "DS-CNN int8")
CHANGE = 0.15  # of bytes, that leaves a table current


@dataclass(frozen=True)
class Fit:
    """What a firmware takes in bytes; or the bytes that lack, and where."""

    flash: int = 0
    ram: int = 0
    lacks: int = 0
    memory: str = ""

    def __str__(self) -> str:
        if self.lacks:
            return f"refused: {self.lacks:,} bytes more than `{self.memory}` has"
        return f"{self.flash:,} / {self.ram:,}"


Row = tuple[Board, tuple[Fit, ...]]


def real() -> list[Board]:
    """The boards that something can flash."""
    every = (boards.load(name) for name in boards.names())
    return [board for board in every if board.flashers]


def program(model: str, board: Board) -> Path:
    if model == "digits":
        return DIGITS
    core = TARGETS.get(board.cpu, "m4")
    return ROOT / "tests" / "boards" / f"int8_ds_cnn_{core}.bpte"


def fit(model: str, board: Board) -> Fit:
    """Build the model for the board."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            built = build(program(model, board), board.name, out=Path(folder))
        except TooSmallError as error:
            worst = max(error.shortages, key=lambda memory: int(memory["over"]))
            return Fit(lacks=worst["over"], memory=worst["memory"])
        # Raises an error if `ember flash` would refuse it.
        plans.read_image(built.firmware, board)
    used = {memory["name"]: memory["used"] for memory in built.sizes["memory"]}
    ram = sum(used[memory.name] for memory in board.memories if "w" in memory.access)
    return Fit(flash=sum(used.values()) - ram, ram=ram)


def table(rows: list[Row]) -> str:
    head = ["board", "core", *MODELS, "verified by"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for board, fits in rows:
        cells = [f"`{board.name}`", board.cpu, *map(str, fits), board.verified]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def shown() -> str:
    """The table of the page."""
    return PAGE.read_text(encoding="utf-8").split(MARK)[1]


def merged(page: str, now: str) -> str:
    """The page's table with the rows of another in their places, by name."""
    head, lines = page.splitlines()[:2], page.splitlines()[2:]
    rows = {line.split("|")[1]: line for line in (*lines, *now.splitlines()[2:])}
    order = {f" `{board.name}` ": board for board in real()}
    return "\n".join([*head, *(rows[name] for name in order if name in rows)]) + "\n"


def stale(now: str, page: str) -> list[str]:
    """The lines of a table that say something else than the page's."""
    there = {line.split("|")[1]: line for line in page.splitlines()[2:]}
    return [
        line
        for line in now.splitlines()[2:]
        if not _alike(line, there.get(line.split("|")[1], ""))
    ]


def _alike(text: str, other: str) -> bool:
    number = r"(?<![\w-])[\d,]+(?![\w-])"
    if re.sub(number, "#", text) != re.sub(number, "#", other):
        return False
    pairs = zip(re.findall(number, text), re.findall(number, other), strict=True)
    counts = [(int(a.replace(",", "")), int(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= max(CHANGE * b, 256) for a, b in counts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--board", action="append", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    chosen = [boards.load(name) for name in args.board or ()] or real()
    rows = [(chip, tuple(fit(model, chip) for model in MODELS)) for chip in chosen]
    rendered = table(rows)
    print(rendered, end="")
    if args.write:
        before, page, after = PAGE.read_text(encoding="utf-8").split(MARK)
        text = merged(page, rendered) if args.board else rendered
        PAGE.write_text(MARK.join([before, text, after]), encoding="utf-8")
    if args.check and (old := stale(rendered, shown())):
        print("docs/boards.md is stale: run tools/real_boards.py --write")
        print("\n".join(old))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
