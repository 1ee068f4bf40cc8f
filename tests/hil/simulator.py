"""A board that exists in QEMU only, with empty flash, a probe, and a board file."""

import contextlib
import pathlib
import socket
import struct
import subprocess
import sys
import time

from simprobe import algorithm
from simprobe.gdbstub import PC, XPSR, Stub

HERE = pathlib.Path(__file__).parent
FLASH, RAM = 4 << 20, 0x2000_0000
B_SELF = b"\xfe\xe7"
BOARD = """
name: simulated
title: Arm MPS2 with flash
cpu: cortex-m4
isa: [dsp]
toolchains: [arm-gnu]
port: cortexm
memories:
  - {{name: code, base: 0x00000000, size: 4M, access: rx, kind: flash,
     holds: [vectors, code, rodata, weights], flash: {{sectors: 4K, write: 4}}}}
  - {{name: data, base: 0x20000000, size: 4M, access: rw, kind: sram,
     holds: [stack, data, method, planned, temp, io]}}
console: semihosting
runner: {{kind: qemu-system, binary: qemu-system-arm, counts: null}}
chip: {{at: 0xE000ED00, value: {cpuid:#x}}}
flashers:
  - {{tool: pyocd, target: cortex_m, script: {folder}/pyocd_user.py}}
  - {{tool: openocd, config: [{here}/simprobe/openocd.cfg],
     serial: "remote_bitbang port {{probe}}", load: image}}
  - {{tool: gdb}}
"""
CPUID = 0x410F_C240


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def board_file(folder, cpuid=CPUID):
    """The board's description, and what pyOCD needs for it."""
    algorithm.user_script(folder, FLASH)
    path = folder / "simulated.yaml"
    path.write_text(BOARD.format(folder=folder, here=HERE, cpuid=cpuid))
    return path


def park(port, content):
    """Fill the flash; the CPU waits in RAM, for QEMU ends when it runs nothing."""
    stub = connect(port)
    stub.write(0, content or struct.pack("<II", RAM + 0x1000, RAM | 1))
    stub.write(RAM, B_SELF)
    stub.set_register(PC, RAM)
    stub.set_register(XPSR, 1 << 24)
    stub.close()


def connect(port):
    for _ in range(400):
        with contextlib.suppress(OSError):
            return Stub("127.0.0.1", port)
        time.sleep(0.05)
    raise AssertionError("QEMU does not listen")


class Simulation:
    """QEMU and a probe of one kind; `probe` is what --probe takes."""

    def __init__(self, folder, kind, options=(), content=b""):
        self.log = folder / "console.txt"
        self.folder = folder
        self.probe_process = None
        port = free_port()
        words = ["qemu-system-arm", "-machine", "mps2-an386", "-nographic"]
        words += ["-monitor", "none", "-serial", "none", "-S"]
        words += ["-semihosting-config", "enable=on,target=native"]
        words += ["-gdb", f"tcp:127.0.0.1:{port}"]
        with self.log.open("wb") as log:
            self.qemu = subprocess.Popen(words, stdout=log, stderr=log)
        park(port, content)
        if kind == "gdb":
            self.probe = f"127.0.0.1:{port}"
            return
        words = [sys.executable, "-m", "simprobe", "--kind", kind]
        words += ["--qemu", f"127.0.0.1:{port}", *options]
        self.probe_process = subprocess.Popen(
            words, cwd=HERE, stdout=subprocess.PIPE, text=True
        )
        served = self.probe_process.stdout.readline().strip()
        self.probe = f"remote:127.0.0.1:{served}" if kind == "pyocd" else served

    def printed(self, text, seconds=20):
        """Whether the firmware prints `text` in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if text in self.log.read_text():
                return True
            time.sleep(0.05)
        return False

    def close(self):
        for process in (self.probe_process, self.qemu):
            if process is not None:
                process.kill()
                process.communicate()
