"""A process becomes a line: what it says, and what it is told."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import socket
import subprocess
from collections.abc import Iterator, Sequence

from ember.errors import SdkError
from ember.hil.wire import Wire, WireGoneError
from ember.toolchain import emulator


class Pipes:
    """What a process says, and what it is told; a Wire."""

    byte_seconds = 0.0

    def __init__(self, name: str, said: int, told: int | None) -> None:
        self.name = name
        self._open = [said]
        self._told = told

    def join(self, uart: socket.socket) -> None:
        """The process has a serial port, too."""
        self._open.append(uart.fileno())
        self._told = uart.fileno()

    def said(self) -> str:
        data = self.read(0)
        return data.decode("utf-8", "replace")

    def read(self, timeout_s: float) -> bytes:
        received = b""
        for file in select.select(self._open, [], [], timeout_s)[0]:
            try:
                data = os.read(file, 65536)
            except OSError:  # a terminal whose other end is closed
                data = b""
            received += data
            if not data:
                self._open.remove(file)
        if not received and not self._open:
            raise WireGoneError(f"{self.name} has ended")
        return received

    def write(self, data: bytes) -> None:
        try:
            while data and self._told is not None:
                data = data[os.write(self._told, data) :]
        except OSError as error:
            raise WireGoneError(f"{self.name} has ended") from error

    def close(self) -> None:
        """Its files are others'."""


@contextlib.contextmanager
def process_of(
    words: Sequence[str],
) -> Iterator[tuple[subprocess.Popen[bytes], Pipes]]:
    pipe, stderr = subprocess.PIPE, subprocess.STDOUT
    try:
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=stderr)
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    assert process.stdin is not None and process.stdout is not None
    with process.stdin as told, process.stdout as said:
        try:
            yield process, Pipes(words[0], said.fileno(), told.fileno())
        finally:
            emulator.stop(process)


@contextlib.contextmanager
def terminal(words: Sequence[str]) -> Iterator[Wire]:
    """A command that shows what the board says, such as a viewer of RTT."""
    ours, its = pty.openpty()
    try:
        process = subprocess.Popen(words, stdin=its, stdout=its, stderr=its)
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    finally:
        os.close(its)
    try:
        yield Pipes(words[0], ours, ours)
    finally:
        emulator.stop(process)
        os.close(ours)
