"""A serial port or an emulator's UART becomes a `Line` that runs a stream of cases."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ember.boards import Board
from ember.cases import batch
from ember.errors import SdkError
from ember.hil import wire
from ember.hil.link import Ended, Link
from ember.hil.wire import SocketWire, Wire, WireGoneError
from ember.toolchain import emulator, tools
from ember.toolchain.emulator import RunResult

PATIENCE_S = 10  # for the first answer


class Line(Protocol):
    """How a board is reached: it runs a stream of cases."""

    @property
    def needs_firmware(self) -> bool:
        """Whether it is started with the runner; otherwise the board has it."""

    @property
    def takes_files(self) -> bool:
        """Whether the runner reads files; otherwise it is the one for a serial port."""

    @property
    def is_flashed(self) -> bool:
        """Whether the runner is written to flash, and should be small."""

    @property
    def options(self) -> str:
        """The options of the command line that choose it."""

    def run(
        self, board: Board, firmware: Path | None, stream: bytes, limit_s: float
    ) -> tuple[RunResult, bytes]:
        """Sends the stream of cases; what comes back. The run ends after `limit_s`
        without progress."""


@dataclass(frozen=True)
class Port:
    """A serial port of a board that has the runner in its flash."""

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
    """The board's emulator, reached only through its UART."""

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
            counting = self.count and emulator.unit(board) is not None
            options = emulator.plugin_options(firmware, log) if counting else []
            with started_emulator(board, firmware, options) as running:
                clock = emulator.cpu_clock(running.process.pid)
                result, output = talk(running.wire, stream, limit_s, clock)
                said = running.said
            marks, total = emulator.read_marks(log)
        if result.fault is None:
            text = result.text + said
            result = replace(result, fault=emulator.fault(board, firmware, text, 0))
        return replace(result, marks=marks, total=total), output


def talk(
    opened: Wire,
    stream: bytes,
    limit_s: float,
    clock: Callable[[], float] | None = None,
) -> tuple[RunResult, bytes]:
    started = time.monotonic()
    link = Link(opened)
    link.connect(PATIENCE_S)
    fault = None
    try:
        ended = link.run(batch.records(stream), limit_s, clock)
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


# ---- emulators with a serial port ----------------------------------------------------


_START_S = 20


@dataclass(frozen=True)
class Emulator:
    """A running emulator; `said` is what it has printed."""

    wire: SocketWire
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def said(self) -> str:
        return _text(self.output)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def need_emulator(board: Board) -> None:
    """Raises SdkError if no emulator of `board` has a serial port."""
    if board.runner.kind != "qemu-system":
        raise SdkError(f"board {board.name} has no emulator with a serial port")


class Server:
    """Accepts connections of an emulator: serial ports, its console, its monitor."""

    def __init__(self, listening: socket.socket) -> None:
        self._socket = listening
        path = listening.getsockname().replace(",", ",,")  # as -chardev escapes it
        self.address = f"socket,path={path}"  # as -chardev takes it

    def accept(
        self, process: subprocess.Popen[bytes], said: Callable[[], str]
    ) -> socket.socket:
        """The next connection of `process`; `said` gives what it printed."""
        self._socket.settimeout(0.1)
        deadline = time.monotonic() + _START_S
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                return self._socket.accept()[0]
        last = said().strip().rsplit("\n", 1)[-1] or "it printed nothing"
        raise SdkError(f"the emulator failed to start: {last}")


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """A server for one emulator. Not TCP: closing would drop bytes that the emulator
    wrote and nobody has read yet, and another program might take the port.
    """
    with (
        tempfile.TemporaryDirectory(prefix="ember-") as folder,
        socket.socket(socket.AF_UNIX) as listening,
    ):
        listening.bind(f"{folder}/line")
        listening.listen()
        yield Server(listening)


@contextlib.contextmanager
def started_emulator(
    board: Board, firmware: Path, options: Sequence[str] = ()
) -> Iterator[Emulator]:
    """Runs the emulator of `board` with `firmware` until the block ends."""
    need_emulator(board)
    with (
        tempfile.TemporaryDirectory(prefix="ember-uart-") as folder,
        server() as lines,
    ):
        output = Path(folder) / "output.txt"
        words = emulator_command(board, firmware, lines.address, options)
        with (
            output.open("wb") as file,
            _process(words, file.fileno()) as process,
            lines.accept(process, lambda: _text(output)) as connected,
        ):
            wire = SocketWire(connected, f"{board.name}'s UART")
            yield Emulator(wire, process, output)


def emulator_command(
    board: Board, firmware: Path, serial: str, options: Sequence[str] = ()
) -> list[str]:
    """The command line of the emulator with the UART at `serial`, as -chardev takes it.
    The UART is the only connection of firmware and host: there is no semihosting.

    A multiplexer feeds the UART from its own buffer; without it, each byte takes a turn
    of the emulator's main loop. Its escape character is disabled.
    """
    return [
        *(tools.path(str(board.runner.binary)), *board.runner.args),
        *("-display", "none", "-monitor", "none", "-echr", "256"),
        *("-chardev", f"{serial},id=uart,mux=on", "-serial", "chardev:uart"),
        *options,
        *("-kernel", str(firmware.resolve())),
    ]


@contextlib.contextmanager
def _process(words: list[str], output: int) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    try:
        yield process
    finally:
        emulator.stop(process)
