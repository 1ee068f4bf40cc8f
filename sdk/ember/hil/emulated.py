"""A board's emulator, its UART connected to this process."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember.boards import Board
from ember.errors import SdkError
from ember.hil.wire import SocketWire
from ember.toolchain import emulator, tools

_START_S = 20


@dataclass(frozen=True)
class Emulator:
    """A running emulator. `said` gives what it printed."""

    wire: SocketWire
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def said(self) -> str:
        return _text(self.output)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def need(board: Board) -> None:
    """An SdkError when no emulator of `board` has a serial port."""
    if board.runner.kind != "qemu-system":
        raise SdkError(f"board {board.name} has no emulator with a serial port")


class Server:
    """Waits for what an emulator connects: serial ports, its console, its monitor."""

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
    """Not of TCP: its end would drop what the emulator wrote and nobody has read yet,
    and another program may take a port.
    """
    with (
        tempfile.TemporaryDirectory(prefix="ember-") as folder,
        socket.socket(socket.AF_UNIX) as listening,
    ):
        listening.bind(f"{folder}/line")
        listening.listen()
        yield Server(listening)


@contextlib.contextmanager
def started(
    board: Board, firmware: Path, options: Sequence[str] = ()
) -> Iterator[Emulator]:
    """Start it; it is ended with the block."""
    need(board)
    with (
        tempfile.TemporaryDirectory(prefix="ember-uart-") as folder,
        server() as lines,
    ):
        output = Path(folder) / "output.txt"
        words = command(board, firmware, lines.address, options)
        with (
            output.open("wb") as file,
            _process(words, file.fileno()) as process,
            lines.accept(process, lambda: _text(output)) as connected,
        ):
            wire = SocketWire(connected, f"{board.name}'s UART")
            yield Emulator(wire, process, output)


def command(
    board: Board, firmware: Path, serial: str, options: Sequence[str] = ()
) -> list[str]:
    """The command line of the emulator with the UART at `serial`, as -chardev takes it.
    Nothing else connects the firmware with this computer: no semihosting.

    A multiplexer hands the UART byte for byte from a buffer of its own; without, each
    takes a round of the emulator's main loop. No byte is its escape character.
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
