"""Boards and bad lines that these tests share."""

from pathlib import Path

import pytest
from faults import FaultyWire

from ember import boards
from ember.hil import emulated, line
from ember.toolchain import emulator

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/cases"


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
        with emulated.started(board, firmware) as running:
            self.wire = FaultyWire(running.wire, self.rate, 5, self.burst_every)
            return line.talk(self.wire, stream, limit_s)
