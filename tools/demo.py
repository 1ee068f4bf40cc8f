#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A digit classifier becomes firmware, and reads digits on emulated boards.

    make demo
    tools/demo.py [BOARD...]      other boards than the two of the demo

Ten images that the network never saw go through the firmware of each board. Exit
status 1 when a board gets an image wrong that PyTorch gets right.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console

from ember import output, paths
from ember.cases import inputs
from ember.cli.reports.builds import memory_table
from ember.errors import SdkError
from ember.firmware import build
from ember.run import run
from ember.run.run import RunLog

DIGITS = paths.root() / "examples" / "models" / "digits"
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
    pictures, case = DIGITS / "images", DIGITS / "case"
    pixels = (np.load(pictures / f"image_{index}.npy") for index in itertools.count())
    expected = (np.load(case / f"out{index}_0.npy") for index in itertools.count())
    labels = map(int, np.load(pictures / "labels.npy"))
    return [Image(x, label, y) for label, x, y in zip(labels, pixels, expected)]  # noqa: B905


def show_images(console: Console, pictures: Sequence[Image]) -> None:
    """The images side by side, two characters a pixel."""
    for start in range(0, len(pictures), PER_ROW):
        shades = [
            np.rint(picture.pixels[0, 0] * (len(SHADES) - 1)).astype(int)
            for picture in pictures[start : start + PER_ROW]
        ]
        for row in range(8):
            line = "".join(
                SHADES[shade] * 2 for picture in shades for shade in picture[row]
            )
            console.print(line.rstrip(), markup=False)
        console.print()


def execute(console: Console, board: str, pictures: Sequence[Image]) -> list[RunLog]:
    """Build for `board` and run every image; nodes are counted for the first."""
    out = paths.root() / "build" / "demo" / board
    console.print(f"building for {board}")
    started = time.monotonic()
    built = build(DIGITS / "digits.pte", board, out=out)
    console.print(f"  built in {time.monotonic() - started:.1f} s", end="")
    started = time.monotonic()
    given = [inputs.lay_out(built.methods[0], [each.pixels]) for each in pictures]
    logs = [run.run(built, x, trace=index == 0) for index, x in enumerate(given)]
    console.print(f", ran {len(pictures)} images in {time.monotonic() - started:.1f} s")
    return logs


def logits(log: RunLog) -> np.ndarray:
    (array,) = log.arrays()
    assert isinstance(array, np.ndarray)
    return array


def show_predictions(
    console: Console, pictures: Sequence[Image], logs: dict[str, list[RunLog]]
) -> int:
    """Labels against predictions; how many are worse than PyTorch's."""
    table = output.table(">label", ">PyTorch", *(f">{board}" for board in logs), "")
    worse = 0
    for index, picture in enumerate(pictures):
        torch_says = int(np.argmax(picture.expected))
        says = [int(np.argmax(logits(of_board[index]))) for of_board in logs.values()]
        wrong = torch_says == picture.label and set(says) != {picture.label}
        worse += wrong
        verdict = "[red]WRONG[/]" if wrong else "[green]ok[/]"
        table.add_row(str(picture.label), str(torch_says), *map(str, says), verdict)
    console.print(table)
    for board, of_board in logs.items():
        most = max(
            float(np.abs(logits(log) - picture.expected).max())
            for log, picture in zip(of_board, pictures, strict=True)
        )
        console.print(f"{board}: logits differ from PyTorch's by at most {most:.1e}")
    return worse


def show_sizes(console: Console, logs: dict[str, list[RunLog]]) -> None:
    sizes = [of_board[0].built.sizes["size"] for of_board in logs.values()]
    table = output.table("bytes", *(f">{board}" for board in logs))
    for name in SECTIONS:
        table.add_row(name, *(f"{size[name]:,}" for size in sizes))
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
    nodes = [_named_nodes(log) for log in firsts]
    for name in dict.fromkeys(name for of_board in nodes for name in of_board):
        table.add_row(f"  {name}", *(_count(of_board.get(name)) for of_board in nodes))
    table.add_row("execute", *(_count(log.execute) for log in firsts))
    table.add_row("load, once", *(_count(log.load) for log in firsts))
    console.print(table)


def _named_nodes(log: RunLog) -> dict[str, int | None]:
    """Instructions by operator, numbered where one comes again: boards differ."""
    counts: dict[str, int | None] = {}
    for node in log.nodes:
        name = node.op.removeprefix("aten::").removesuffix(".out")
        names = itertools.chain([name], (f"{name} {n}" for n in itertools.count(2)))
        counts[next(free for free in names if free not in counts)] = node.instructions
    return counts


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def main() -> int:
    boards = sys.argv[1:] or BOARDS
    console = output.console()
    pictures = images()
    console.print("[bold]Digits that the network never saw:[/]\n")
    show_images(console, pictures)
    try:
        logs = {board: execute(console, board, pictures) for board in boards}
    except SdkError as error:
        hint = f"\n  hint: {error.hint}" if error.hint else ""
        print(f"\ndemo: {error.what}{hint}", file=sys.stderr)
        return 1
    console.print()
    worse = show_predictions(console, pictures, logs)
    console.print()
    show_sizes(console, logs)
    console.print()
    show_counts(console, logs)
    if worse:
        console.print(f"\n[red]{worse} of {len(pictures)} images are read wrong[/]")
        return 1
    where = " and ".join(boards)
    console.print(f"\n[green]{len(pictures)} images are read right on {where}[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
