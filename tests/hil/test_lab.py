"""Boards of a lab: a real coordinator, real exporters, emulators behind serial ports."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from lab import PACKAGES, Lab, serial_port
from lines import CASES, board

from ember import cli
from ember.build import runner
from ember.hil import emulated

pytestmark = [pytest.mark.qemu, pytest.mark.broad]

BOARD = "mps2-an386"
CASE = CASES / "bundle_mlp"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextlib.contextmanager
def served(serial, *options):
    """The emulator with the runner in its flash, at `serial` of -chardev."""
    target = board(BOARD)
    words = emulated.command(target, runner.serial(target), serial, options)
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def board_at(number):
    serial = f"socket,host=127.0.0.1,port={number},server=on,wait=off"
    with served(serial) as process:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", number)).close()
                break
            time.sleep(0.1)
        yield process


@pytest.fixture(scope="module")
def programs(environment):
    return environment("labgrid", PACKAGES) / "bin"


@pytest.fixture(scope="module")
def lab(programs, tmp_path_factory):
    """A lab with one board, `board-10`, whose runner waits."""
    made = Lab(tmp_path_factory.mktemp("lab"), programs)
    number = free_port()
    try:
        with board_at(number):
            made.export("lab1", {"uart": serial_port(number)})
            made.place("board-10", "lab1", board=BOARD)
            yield made
    finally:
        made.close()


@pytest.fixture(autouse=True)
def here(lab, monkeypatch):
    for name, value in lab.environment().items():
        monkeypatch.setenv(name, value)


def ember(*words):
    return cli.main(["test", str(CASE), "--board", BOARD, *map(str, words)])


def test_a_case_on_a_place(lab, capsys):
    assert ember("--place", "board-10") == 0
    assert "1 passed" in capsys.readouterr().out
    assert lab.holder("board-10") is None
