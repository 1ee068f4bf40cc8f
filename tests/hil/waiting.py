"""Emulators with the test runner in their flash, waiting at a serial port."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence

from lines import board
from simulator import free_port

from ember.firmware import runner
from ember.hil import line


@contextlib.contextmanager
def served(
    name: str,
    serial: str = "socket,host=127.0.0.1,port=0,server=on,wait=off",
    options: Sequence[str] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    """The emulator with the runner, waiting; its process and what it says of itself."""
    target = board(name)
    words = line.emulator_command(target, runner.serial(target), serial, options)
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def tcp(name: str, options: Sequence[str] = ()) -> Iterator[int]:
    """A port that a board listens at."""
    number = free_port()
    serial = f"socket,host=127.0.0.1,port={number},server=on,wait=off"
    with served(name, serial, options):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", number)).close()
                break
            time.sleep(0.1)
        yield number
