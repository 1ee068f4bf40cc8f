"""Boards and bad lines that these tests share."""

import contextlib
import socket
import threading
from pathlib import Path

import pytest
import serial
import serial.rfc2217
from faults import FaultyWire

from ember import boards
from ember.hil import line
from ember.toolchain import emulator

ROOT = Path(__file__).parents[2]


def board(name):
    """The board; the test is skipped where its emulator is not."""
    found = boards.load(name)
    if not emulator.available(found):
        pytest.skip(f"{found.runner.binary} is not installed")
    return found


class FaultyEmulator:
    """An emulator's line that loses, flips and adds bytes; an ember.hil.line.Line."""

    needs_firmware = True
    takes_files = False
    is_flashed = False
    options = "--transport uart"

    def __init__(self, rate=0.0, burst_every=0):
        self.rate = rate
        self.burst_every = burst_every
        self.wire = None

    def run(self, board, firmware, stream, limit_s):
        with line.started_emulator(board, firmware) as running:
            self.wire = FaultyWire(running.wire, self.rate, 5, self.burst_every)
            return line.talk(self.wire, stream, limit_s)


@contextlib.contextmanager
def rfc2217():
    """A port of a server of RFC 2217 whose serial line repeats what it hears."""
    with (
        serial.serial_for_url("loop://", timeout=0.02) as device,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        threading.Thread(target=_serve, args=(device, server), daemon=True).start()
        yield server.getsockname()[1]


class _Answers:
    """What PortManager writes its answers to."""

    def __init__(self, near):
        self.write = near.sendall


def _serve(device, server):
    near, _ = server.accept()
    manager = serial.rfc2217.PortManager(device, _Answers(near))

    def receive():
        with contextlib.suppress(OSError):
            while data := near.recv(1024):
                device.write(b"".join(manager.filter(data)))

    threading.Thread(target=receive, daemon=True).start()
    with near, contextlib.suppress(OSError):
        while True:
            near.sendall(b"".join(manager.escape(device.read(256))))
