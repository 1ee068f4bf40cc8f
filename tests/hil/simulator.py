"""A board that exists in QEMU only, with empty flash, a probe, and a board file."""

from __future__ import annotations

import contextlib
import pathlib
import random
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Protocol

from faults import Cut, Proxy
from simprobe import algorithm
from simprobe.gdbstub import PC, XPSR, Stub

HERE = pathlib.Path(__file__).parent
FLASH, RAM = 4 << 20, 0x2000_0000
# And where flash begins, or what stands for it.
MACHINES = {"mps2-an386": 0, "netduinoplus2": 0x0800_0000, "mps2-an500": 0x6000_0000}
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
     holds: [stack, data, method, planned, temp, io, batch]}}
console: {console}
uart: {{kind: cmsdk, base: 0x40004000, clock: 25MHz, baud: 1000000}}
runner: {{kind: qemu-system, binary: qemu-system-arm, counts: null}}
chip: {{at: 0xE000ED00, value: {cpuid:#x}}}
flashers:
  - {{tool: pyocd, target: cortex_m, script: {folder}/pyocd_user.py}}
  - {{tool: openocd, config: [{here}/simprobe/openocd.cfg],
     serial: "remote_bitbang port {{probe}}", load: {load}}}
  - {{tool: uf2, family: 0xE48BFF56, volume: SIMULATED, board_id: SIMULATED}}
  - {{tool: dfu-util, vendor: 0x0483, product: 0xdf11}}
  - {{tool: gdb}}
"""
CPUID = 0x410F_C240
FLAGS = ["-mcpu=cortex-m4", "-mthumb", "-Os", "-ffreestanding", "-nostdlib", "-Wall"]
FLAGS += ["-Wextra", "-Werror", "-Ttext=8", "-Wl,--build-id=none,-e,0"]
FLAGS += ["-Wl,--section-start=.vectors=0"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def board_file(
    folder: pathlib.Path,
    cpuid: int = CPUID,
    console: str = "semihosting",
    load: str = "image",
) -> pathlib.Path:
    """The board's description, and what pyOCD needs for it."""
    algorithm.user_script(folder, FLASH)
    path = folder / "simulated.yaml"
    facts = {"folder": folder, "here": HERE, "cpuid": cpuid, "console": console}
    facts["load"] = load
    path.write_text(BOARD.format(**facts))
    return path


def firmware(folder: pathlib.Path, words: int = 5000) -> pathlib.Path:
    """A small program with so many words of data: six sectors; its ELF file."""
    filler = folder / "filler.bin"
    content = random.Random(0).randbytes(4 * words)
    filler.write_bytes(content)
    value = 0
    for word in struct.unpack(f"<{words}I", content):
        value = (value * 31 + word) & 0xFFFF_FFFF
    flags = [*FLAGS, f'-DFILLER="{filler}"', f"-DHASH={value:#x}u"]
    program = folder / "firmware.elf"
    source = HERE / "firmware.c"
    subprocess.run(["arm-none-eabi-gcc", *flags, source, "-o", program], check=True)
    return program


def dfu_device(folder: pathlib.Path) -> pathlib.Path:
    """The library that gives dfu-util a device."""
    library = folder / "usb.so"
    words = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*words, HERE / "simdfu" / "usb.c", "-o", library], check=True)
    return library


def connect(port: int) -> Stub:
    for _ in range(1200):
        with contextlib.suppress(OSError):
            return Stub("127.0.0.1", port)
        time.sleep(0.05)
    raise AssertionError("QEMU does not listen")


class Simulation:
    """QEMU and a probe of one kind; `probe` is what --probe takes.

    After `cut` bytes between probe and CPU the power is cut; `left` is then what the
    flash holds.
    """

    def __init__(
        self,
        folder: pathlib.Path,
        kind: str,
        options: Sequence[str] = (),
        content: bytes = b"",
        cut: int | None = None,
        machine: str = "mps2-an386",
    ) -> None:
        self.log = folder / "console.txt"
        self.folder = folder
        self.probe_process: subprocess.Popen[str] | None = None
        self.port = free_port()
        uart = free_port()
        self.uart = f"socket://127.0.0.1:{uart}"
        words = ["qemu-system-arm", "-machine", machine, "-display", "none"]
        words += ["-monitor", "stdio", "-S"]
        words += ["-serial", f"tcp:127.0.0.1:{uart},server=on,wait=off"]
        words += ["-semihosting-config", "enable=on,target=native"]
        words += ["-gdb", f"tcp:127.0.0.1:{self.port}"]
        with self.log.open("wb") as log:
            self.qemu = subprocess.Popen(
                words, cwd=folder, stdin=subprocess.PIPE, stdout=log, stderr=log
            )
        self._park(MACHINES[machine], content)
        port = self.port
        if cut:
            faults = (Cut(cut, self._cut), Cut())
            port = Proxy(("127.0.0.1", port), faults=faults).port
        if kind == "gdb":
            self.probe = f"127.0.0.1:{port}"
            return
        words = [sys.executable, "-m", "simprobe", "--kind", kind]
        words += ["--qemu", f"127.0.0.1:{port}", *options]
        self.probe_process = subprocess.Popen(
            words, cwd=HERE, stdout=subprocess.PIPE, text=True
        )
        assert self.probe_process.stdout is not None
        served = self.probe_process.stdout.readline().strip()
        self.probe = f"remote:127.0.0.1:{served}" if kind == "pyocd" else served

    def _park(self, flash: int, content: bytes) -> None:
        """Fill the flash; the CPU waits in RAM, because QEMU ends when it runs
        nothing."""
        stub = connect(self.port)
        stub.write(flash, content or struct.pack("<II", RAM + 0x1000, RAM | 1))
        stub.write(RAM, B_SELF)
        stub.set_register(PC, RAM)
        stub.set_register(XPSR, 1 << 24)
        stub.close()

    def _cut(self) -> None:
        command = b"stop\npmemsave 0 %d left.bin\nquit\n" % 65536
        self.qemu.communicate(command, timeout=20)

    @property
    def left(self) -> bytes:
        return (self.folder / "left.bin").read_bytes()

    def reset(self) -> None:
        """What the button does."""
        stub = connect(self.port)
        stub.reset(0)
        stub.resume()
        stub.close()

    def printed(self, text: str, seconds: float = 60) -> bool:
        """Whether the firmware prints `text` in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if text in self.log.read_text(errors="replace"):
                return True
            time.sleep(0.05)
        return False

    def close(self) -> None:
        for process in (self.probe_process, self.qemu):
            if process is not None:
                process.kill()
                process.wait()


class Simulate(Protocol):
    """Starts a simulation, which ends with the test."""

    def __call__(
        self,
        kind: str,
        *options: str,
        content: bytes = b"",
        cut: int | None = None,
        machine: str = "mps2-an386",
    ) -> Simulation: ...
