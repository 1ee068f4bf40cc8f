#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A digit classifier becomes firmware, and reads digits on emulated boards.

    make demo
    tools/demo.py [BOARD...]      other boards than the two of the demo

Ten images that the network never saw go through the firmware of each board. Exit
status 1 when a board gets an image wrong that PyTorch gets right.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console

from ember import build, output, paths
from ember.cases import inputs
from ember.cli.reports.builds import memory_table
from ember.errors import SdkError
from ember.run import run
from ember.run.run import RunLog

BOARDS = ("mps3-an547", "mps2-an386")
SHADES = " ░▒▓█"
PER_ROW = 5
SECTIONS = ("code", "rodata", "model", "data", "bss", "arena", "stack")


@dataclass(frozen=True)
class Image:
    pixels: np.ndarray  # (1, 1, 8, 8) float32 in [0, 1]
    label: int
    expected: np.ndarray  # PyTorch's logits, (1, 10)


def images() -> list[Image]:
    """Ten held-out images, their labels, and what PyTorch says of them."""
    folder = paths.root() / "examples" / "models" / "digits"
    labels = np.load(folder / "images" / "labels.npy")
    return [
        Image(
            np.load(folder / "images" / f"image_{index}.npy"),
            int(label),
            np.load(folder / "case" / f"out{index}_0.npy"),
        )
        for index, label in enumerate(labels)
    ]


def show_images(console: Console, found: Sequence[Image]) -> None:
    """The images side by side, two characters a pixel."""
    for start in range(0, len(found), PER_ROW):
        shades = [
            np.rint(one.pixels[0, 0] * (len(SHADES) - 1)).astype(int)
            for one in found[start : start + PER_ROW]
        ]
        for row in range(8):
            line = "".join(SHADES[shade] * 2 for one in shades for shade in one[row])
            console.print(line.rstrip(), markup=False)
        console.print()


def execute(console: Console, board: str, found: Sequence[Image]) -> list[RunLog]:
    """Build for `board` and run every image; nodes are counted for the first."""
    folder = paths.root() / "examples" / "models" / "digits"
    out = paths.root() / "build" / "demo" / board
    console.print(f"building for {board}")
    started = time.monotonic()
    built = build.build(folder / "digits.pte", board, out=out)
    console.print(f"  built in {time.monotonic() - started:.1f} s", end="")
    started = time.monotonic()
    logs = [
        run.run(built, inputs.lay_out(built.methods[0], [one.pixels]), trace=index == 0)
        for index, one in enumerate(found)
    ]
    console.print(f", ran {len(found)} images in {time.monotonic() - started:.1f} s")
    return logs


def logits(log: RunLog) -> np.ndarray:
    (found,) = log.arrays()
    assert isinstance(found, np.ndarray)
    return found


def show_predictions(
    console: Console, found: Sequence[Image], logs: dict[str, list[RunLog]]
) -> int:
    """Labels against predictions; how many are worse than PyTorch's."""
    table = output.table(">label", ">PyTorch", *(f">{board}" for board in logs), "")
    worse = 0
    for index, one in enumerate(found):
        torch_says = int(one.expected.argmax())
        says = [int(logits(of_board[index]).argmax()) for of_board in logs.values()]
        wrong = torch_says == one.label and any(word != one.label for word in says)
        worse += wrong
        verdict = "[red]WRONG[/]" if wrong else "[green]ok[/]"
        table.add_row(str(one.label), str(torch_says), *map(str, says), verdict)
    console.print(table)
    for board, of_board in logs.items():
        most = max(
            float(np.abs(logits(log) - one.expected).max())
            for log, one in zip(of_board, found, strict=True)
        )
        console.print(f"{board}: logits differ from PyTorch's by at most {most:.1e}")
    return worse


def show_sizes(console: Console, logs: dict[str, list[RunLog]]) -> None:
    sizes = [of_board[0].built.sizes["size"] for of_board in logs.values()]
    table = output.table("bytes", *(f">{board}" for board in logs))
    for name in SECTIONS:
        table.add_row(name, *(f"{one[name]:,}" for one in sizes))
    console.print(table)
    for board, of_board in logs.items():
        first = of_board[0]
        console.print(f"\n[bold]{board}[/], its memories:")
        console.print(memory_table(first.built.sizes["memory"]))
        bound = first.built.plan["stack"]
        if first.stack_used is not None:
            console.print(f"stack {first.stack_used:,} of {bound:,} bytes used")


def show_counts(console: Console, logs: dict[str, list[RunLog]]) -> None:
    """Instructions of the first image, node by node."""
    firsts = [of_board[0] for of_board in logs.values()]
    table = output.table("instructions", *(f">{board}" for board in logs))
    nodes = zip(*(one.nodes for one in firsts), strict=True)
    for same in nodes:
        name = same[0].op.removeprefix("aten::").removesuffix(".out")
        table.add_row(f"  {name}", *(_count(one.instructions) for one in same))
    table.add_row("execute", *(_count(one.execute) for one in firsts))
    table.add_row("load, once", *(_count(one.load) for one in firsts))
    console.print(table)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def main() -> int:
    boards = sys.argv[1:] or BOARDS
    console = output.console()
    found = images()
    console.print("[bold]Digits that the network never saw:[/]\n")
    show_images(console, found)
    try:
        logs = {board: execute(console, board, found) for board in boards}
    except SdkError as error:
        hint = f"\n  hint: {error.hint}" if error.hint else ""
        print(f"\ndemo: {error.what}{hint}", file=sys.stderr)
        return 1
    console.print()
    worse = show_predictions(console, found, logs)
    console.print()
    show_sizes(console, logs)
    console.print()
    show_counts(console, logs)
    if worse:
        console.print(f"\n[red]{worse} of {len(found)} images are read wrong[/]")
        return 1
    where = " and ".join(boards)
    console.print(f"\n[green]{len(found)} images are read right on {where}[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
