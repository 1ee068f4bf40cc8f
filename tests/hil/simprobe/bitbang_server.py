"""The far end of OpenOCD's remote_bitbang: wires of JTAG to a JTAG-DP."""

from __future__ import annotations

import socket

from simprobe.coresight import JTAG_IDCODE, Dap
from simprobe.gdbstub import TargetGone

# state: (next with TMS 0, next with TMS 1), of IEEE 1149.1
STATES = {
    "reset": ("idle", "reset"),
    "idle": ("idle", "select-dr"),
    "select-dr": ("capture-dr", "select-ir"),
    "capture-dr": ("shift-dr", "exit1-dr"),
    "shift-dr": ("shift-dr", "exit1-dr"),
    "exit1-dr": ("pause-dr", "update-dr"),
    "pause-dr": ("pause-dr", "exit2-dr"),
    "exit2-dr": ("shift-dr", "update-dr"),
    "update-dr": ("idle", "select-dr"),
    "select-ir": ("capture-ir", "reset"),
    "capture-ir": ("shift-ir", "exit1-ir"),
    "shift-ir": ("shift-ir", "exit1-ir"),
    "exit1-ir": ("pause-ir", "update-ir"),
    "pause-ir": ("pause-ir", "exit2-ir"),
    "exit2-ir": ("shift-ir", "update-ir"),
    "update-ir": ("idle", "select-dr"),
}
ABORT, DPACC, APACC, IDCODE = 0x8, 0xA, 0xB, 0xE
LENGTHS = {ABORT: 35, DPACC: 35, APACC: 35, IDCODE: 32}
OK = 2


class Tap:
    """A JTAG-DP with an instruction register of four bits."""

    def __init__(self, dap: Dap) -> None:
        self.dap = dap
        self.state = "reset"
        self.instruction = IDCODE
        self.shift, self.length = 0, 32
        self.result = 0

    def clock(self, tms: int, tdi: int) -> None:
        """A rising edge of TCK."""
        state = self.state
        if state in ("shift-dr", "shift-ir"):
            self.shift = self.shift >> 1 | tdi << (self.length - 1)
        elif state == "capture-dr":
            self._capture()
        elif state == "capture-ir":
            self.shift, self.length = 1, 4
        self.state = STATES[state][tms]
        if self.state == "update-dr":
            self._update()
        elif self.state == "update-ir":
            self.instruction = self.shift
        elif self.state == "reset":
            self.instruction = IDCODE

    def _capture(self) -> None:
        self.length = LENGTHS.get(self.instruction, 1)
        if self.instruction == IDCODE:
            self.shift = JTAG_IDCODE
        else:
            self.shift = self.result << 3 | OK if self.length == 35 else 0

    def _update(self) -> None:
        if self.instruction not in (DPACC, APACC):
            return
        read, address = self.shift & 1, self.shift << 1 & 0xC
        value = self.shift >> 3
        if self.instruction == DPACC:
            if read and address == 0xC:  # RDBUFF: the last result once more
                return
            if read:
                self.result = self.dap.read_dp(address)
            else:
                self.dap.write_dp(address, value)
            return
        place = self.dap.select & 0xFF00_00F0 | address
        if read:
            self.result = self.dap.read_ap(place)
        else:
            self.dap.write_ap(place, value)


def serve(connection: socket.socket, dap: Dap) -> None:
    """Move wires for one client until it leaves."""
    tap = Tap(dap)
    level = 0
    with connection:
        while data := connection.recv(65536):
            answers = bytearray()
            for byte in data:
                if 0x30 <= byte <= 0x37:
                    rising = byte & 4 and not level
                    level = byte & 4
                    if rising:
                        tap.clock(byte >> 1 & 1, byte & 1)
                elif byte == ord("R"):
                    answers.append(0x30 | tap.shift & 1)
                elif byte == ord("Q"):
                    return
            if answers:
                connection.sendall(answers)


__all__ = ["TargetGone", "serve"]
