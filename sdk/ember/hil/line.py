"""A stream of cases becomes results, over the serial line of a board."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ember.boards import Board
from ember.cases import batch
from ember.hil import emulated, wire
from ember.hil.link import Ended, Link
from ember.hil.wire import Wire, WireGoneError
from ember.toolchain import emulator
from ember.toolchain.emulator import RunResult

PATIENCE_S = 10  # for the first answer


class Line(Protocol):
    """Where a board hangs."""

    @property
    def needs_firmware(self) -> bool:
        """It is started with the runner; else the board has it."""

    @property
    def takes_files(self) -> bool:
        """That runner is the one with files; else the one for a serial port."""

    @property
    def is_flashed(self) -> bool:
        """That runner is written to the board's flash: the smaller the better."""

    @property
    def options(self) -> str:
        """Of the command line."""

    def run(
        self, board: Board, firmware: Path | None, stream: bytes, limit_s: float
    ) -> tuple[RunResult, bytes]:
        """Send the stream of cases; what comes back. `limit_s` without progress ends
        the run."""


@dataclass(frozen=True)
class Port:
    """A serial port with a board behind it that has the runner in its flash."""

    url: str
    baud: int | None = None  # the board's
    needs_firmware: bool = False
    takes_files: bool = False
    is_flashed: bool = False

    @property
    def options(self) -> str:
        return f"--port {self.url}" + (f" --baud {self.baud}" if self.baud else "")

    def run(
        self, board: Board, firmware: Path | None, stream: bytes, limit_s: float
    ) -> tuple[RunResult, bytes]:
        usual = board.uart.baud if board.uart is not None else 115200
        opened = wire.open_port(self.url, self.baud or usual)
        try:
            return talk(opened, stream, limit_s)
        finally:
            opened.close()


@dataclass(frozen=True)
class EmulatedLine:
    """The board's emulator, by its UART alone."""

    count: bool = True
    needs_firmware: bool = True
    takes_files: bool = False
    is_flashed: bool = False
    options: str = "--transport uart"

    def run(
        self, board: Board, firmware: Path | None, stream: bytes, limit_s: float
    ) -> tuple[RunResult, bytes]:
        assert firmware is not None
        with tempfile.TemporaryDirectory(prefix="ember-run-") as folder:
            log = Path(folder) / "marks.txt"
            counting = self.count and board.runner.counts is not None
            options = emulator.plugin_options(firmware, log) if counting else []
            with emulated.started(board, firmware, options) as running:
                result, output = talk(running.wire, stream, limit_s)
                said = running.said
            marks, total = emulator.read_marks(log)
        if result.fault is None:
            text = result.text + said
            result = replace(result, fault=emulator.fault(board, firmware, text, 0))
        return replace(result, marks=marks, total=total), output


def talk(opened: Wire, stream: bytes, limit_s: float) -> tuple[RunResult, bytes]:
    started = time.monotonic()
    link = Link(opened)
    link.connect(PATIENCE_S)
    fault = None
    try:
        ended = link.run(batch.records(stream), limit_s)
    except WireGoneError as error:
        fault = error.what
        ended = Ended("silent", None, "", link.output)
    return RunResult(
        exit_code=ended.code,
        text=ended.text,
        fault=fault,
        marks=(),
        total=None,
        timed_out=ended.why == "silent" and fault is None,
        seconds=time.monotonic() - started,
        restarted=ended.why == "restarted",
    ), ended.output
