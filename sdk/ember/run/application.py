"""A main() of the user's own, or an ELF of any toolchain, runs on an emulated board."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ember import boards
from ember.boards import Board
from ember.errors import SdkError
from ember.firmware import build, jobs
from ember.firmware import project as projects
from ember.run import attached, once
from ember.toolchain import elf, emulator
from ember.toolchain.elf import Elf
from ember.toolchain.emulator import RunResult

_SUFFIXES = (".elf", ".axf")
_MAGIC = b"\x7fELF"
_ET_REL = 1
# The machine that an ELF is for, in words.
_MACHINES = {
    **{3: "x86", 8: "MIPS", 21: "PowerPC", elf.EM_ARM: "32-bit Arm", 62: "x86-64"},
    **{94: "Xtensa", elf.EM_HEXAGON: "Hexagon", elf.EM_AARCH64: "Arm64"},
    **{243: "RISC-V"},
}


def is_elf(path: Path) -> bool:
    """Whether a file that a user names is meant as firmware."""
    if path.suffix.lower() in _SUFFIXES:
        return True
    try:
        if not path.is_file():  # a pipe would wait for its writer
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def of_elf(path: Path, name: str) -> tuple[Board, Path]:
    """The board and the ELF for it; an SdkError when it cannot run there."""
    board = boards.load(name)
    file = elf.read(path)
    emulator.need_runner(board)
    _check(file, board)
    return board, path


def of_app(order: once.Order) -> tuple[Board, Path]:
    """The board, and firmware of the models with the application of the order."""
    plans = projects.load(order.project, order.kernels)
    target = plans.board_or(order.board)
    emulator.need_runner(boards.load(target))
    jobs.app_of(order.app)
    models = plans.models_or([order.model] if order.model else [])
    built = build(
        models,
        target,
        out=order.out,
        data=order.data,
        options=once.options(order, plans, order.method),
    )
    return built.board, built.firmware


def _check(file: Elf, board: Board) -> None:
    if file.kind == _ET_REL:
        raise SdkError(
            f"{file.path} is an object, not a linked program",
            hint="link it, or build an application with `ember run --app FILE.c`",
        )
    wanted = _machine_of(board)
    if wanted is None or file.machine == wanted:
        return
    raise SdkError(
        f"{file.path} is for {_words(file.machine)}, and {board.name} has a core for"
        f" {_words(wanted)}",
        hint=_boards_for(file.machine),
    )


def _machine_of(board: Board) -> int | None:
    """The EM_* of its programs; None: the host's, which is known when it runs."""
    if board.port == "host":
        return elf.read(Path(sys.executable).resolve()).machine
    if board.port == "linux_user":
        if board.pointer_bytes == 8:
            return elf.EM_AARCH64
        return elf.EM_HEXAGON if board.cpu.startswith("hexagon") else elf.EM_ARM
    return {"cortexm": elf.EM_ARM, "a64": elf.EM_AARCH64}.get(board.port)


def _words(machine: int) -> str:
    return _MACHINES.get(machine, f"machine {machine} of ELF")


def _boards_for(machine: int) -> str:
    every = [boards.load(name) for name in boards.names()]
    fitting = [
        board.name
        for board in every
        if board.runner.kind != "none" and _machine_of(board) == machine
    ]
    if not fitting:
        return "no emulated board runs it: see `ember boards`"
    return f"boards for it: {', '.join(fitting)}"


def run(board: Board, firmware: Path, to: IO[str], timeout: float | None) -> RunResult:
    """Run it with our input, until it ends; an SdkError when a fault or the time ended
    it. Without a wish, a person at a terminal has all the time.
    """
    source = _standard_input()
    if timeout is None and not (source is not None and os.isatty(source)):
        timeout = board.runner.timeout_s
    with _ended_by_term():
        ended = attached.run(board, firmware, source, to, timeout)
    if ended.fault is not None or ended.exit_code is None:
        hint = _misplaced(elf.read(firmware), board)
        raise SdkError(f"{firmware.name} on {board.name}: {ended.problem}", hint=hint)
    return ended


def _standard_input() -> int | None:
    try:
        return sys.stdin.fileno()
    except (AttributeError, ValueError, OSError):  # there is none
        return None


@contextlib.contextmanager
def _ended_by_term() -> Iterator[None]:
    """SIGTERM, as of `timeout`, is Ctrl-C: no emulator is left behind."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _misplaced(file: Elf, board: Board) -> str | None:
    """What firmware for another board has where this one has no memory."""
    if not board.has_script:
        return None
    for section in file.sections:
        is_placed = any(
            memory.base <= section.address < memory.end for memory in board.memories
        )
        if section.in_memory and section.in_file and section.size and not is_placed:
            return (
                f"its {section.name} is at {section.address:#010x}, where {board.name}"
                " has no memory: was it linked for another board?"
            )
    return None
