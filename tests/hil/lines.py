"""Boards and bad lines that these tests share."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import serial
import serial.rfc2217
from faults import FaultyWire

from ember import boards
from ember.boards import Board
from ember.hil import line
from ember.toolchain import emulator
from ember.toolchain.emulator import RunResult

ROOT = Path(__file__).parents[2]


def board(name: str) -> Board:
    """The board; the test is skipped if its emulator is missing."""
    target = boards.load(name)
    if not emulator.available(target):
        pytest.skip(f"{target.runner.binary} is not installed")
    return target


class FaultyEmulator:
    """An emulator's line that loses, flips and adds bytes; an ember.hil.line.Line."""

    needs_firmware = True
    takes_files = False
    is_flashed = False
    options = "--transport uart"

    def __init__(self, rate: float = 0.0, burst_every: int = 0) -> None:
        self.rate = rate
        self.burst_every = burst_every
        self.wire: FaultyWire | None = None

    def run(
        self, board: Board, firmware: Path | None, stream: bytes, limit_s: float
    ) -> tuple[RunResult, bytes]:
        assert firmware is not None
        with line.started_emulator(board, firmware) as running:
            self.wire = FaultyWire(running.wire, self.rate, 5, self.burst_every)
            return line.talk(self.wire, stream, limit_s)


@contextlib.contextmanager
def rfc2217() -> Iterator[int]:
    """A port of a server of RFC 2217 whose serial line repeats what it hears."""
    with (
        serial.serial_for_url("loop://", timeout=0.02) as device,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        threading.Thread(target=_serve, args=(device, server), daemon=True).start()
        yield server.getsockname()[1]


class _Answers:
    """What PortManager writes its answers to."""

    def __init__(self, near: socket.socket) -> None:
        self.write = near.sendall


def _serve(device: Any, server: socket.socket) -> None:
    near, _ = server.accept()
    manager = serial.rfc2217.PortManager(device, _Answers(near))

    def receive() -> None:
        with contextlib.suppress(OSError):
            while data := near.recv(1024):
                device.write(b"".join(manager.filter(data)))

    threading.Thread(target=receive, daemon=True).start()
    with near, contextlib.suppress(OSError):
        while True:
            near.sendall(b"".join(manager.escape(device.read(256))))
