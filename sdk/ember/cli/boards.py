"""`ember boards`: the boards that Ember knows, with their memories."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from ember import boards, output
from ember.boards import Board, Memory
from ember.boards.boot_facts import Part
from ember.toolchain import emulator


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[BOARD]", help="Show this board in full.")
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    found = [boards.load(name) for name in ([name] if name else boards.names())]
    if json_to != "-":
        console = output.console()
        if name:
            _show_one(console, found[0])
        else:
            _show_all(console, found)
    output.write_json({"boards": [_facts(board) for board in found]}, json_to)


def _show_all(console: Console, found: list[Board]) -> None:
    table = output.table("board", "description", "memories", "runs here")
    for board in found:
        memories = ", ".join(
            f"{memory.name} {_size(memory.size)}" for memory in board.memories
        )
        table.add_row(board.name, board.title, memories, _runs_here(board))
    console.print(table)


def _runs_here(board: Board) -> str:
    if not emulator.emulated(board):
        return "on hardware"
    return "yes" if emulator.available(board) else f"needs {board.runner.binary}"


def _show_one(console: Console, board: Board) -> None:
    runner = " ".join([board.runner.binary or board.runner.kind, *board.runner.args])
    lines = {
        "board": f"{board.name}: {board.title}",
        "chip": board.chip or "described in the board's own file",
        "cpu": board.cpu,
        "isa": ", ".join(board.isa) or "portable kernels only",
        "toolchains": ", ".join(board.toolchains),
        "runs with": runner,
        "counts": board.runner.counts or "nothing",
        "verified": f"by {board.verified}",
        "sources": "; ".join(board.sources) or "-",
    }
    if board.boot.parts:
        lines["boot"] = "; ".join(map(_part, board.boot.parts.values()))
    for label, text in lines.items():
        console.print(f"{label + ':':12}{text}", soft_wrap=True)
    table = output.table("memory", ">base", ">size", "access", "holds")
    for memory in board.memories:
        table.add_row(
            memory.name,
            f"{memory.base:#010x}",
            _size(memory.size),
            memory.access,
            ", ".join(memory.holds),
        )
    console.print(table)


def _part(part: Part) -> str:
    """Such as "an image vector table at 0x1000: missing"."""
    given = part.file or ("kept" if part.kept else "")
    given = given or ("made by Ember" if part.made else "missing")
    return f"{part.what} at {part.at:#x}: {given}"


def _size(size: int) -> str:
    """The size as the board's file writes it: 512K, 4M."""
    for unit, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


def _facts(board: Board) -> dict[str, Any]:
    return {
        "name": board.name,
        "title": board.title,
        "cpu": board.cpu,
        "isa": list(board.isa),
        "toolchains": list(board.toolchains),
        "counts": board.runner.counts,
        "available": emulator.available(board),
        "emulated": emulator.emulated(board),
        "verified": board.verified,
        "sources": list(board.sources),
        "memories": [_memory_facts(memory) for memory in board.memories],
    }


def _memory_facts(memory: Memory) -> dict[str, Any]:
    return {
        "name": memory.name,
        "base": memory.base,
        "size": memory.size,
        "access": memory.access,
        "kind": memory.kind,
        "holds": list(memory.holds),
    }
