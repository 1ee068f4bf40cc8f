"""Where a test of firmware runs: an emulated board, or a device of the lab."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pty
import select
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember import boards, emulator
from ember.errors import SdkError
from ember.hil import emulated, hardware_map, wire
from ember.hil.dut import Dut
from ember.hil.hardware_map import Device
from ember.hil.wire import Wire, WireGoneError

_USUAL_BOARD = "mps2-an386"
_BAUD = 115200


@dataclass(frozen=True)
class Wanted:
    """What a test says of the board that it needs."""

    boards: tuple[str, ...] = ()  # one of them; none: any
    fixtures: tuple[str, ...] = ()
    hardware: bool = False

    def __str__(self) -> str:
        words = [" or ".join(self.boards) or "a board"]
        words += [f"with {one}" for one in self.fixtures]
        return " ".join([*words, "as hardware"] if self.hardware else words)


@dataclass(frozen=True)
class Emulated:
    """A board on this computer."""

    name: str

    @property
    def board(self) -> str:
        return self.name

    @contextlib.contextmanager
    def opened(self, firmware: Path | None) -> Iterator[Dut]:
        if firmware is None:
            raise SdkError(
                f"the emulator of {self.name} needs a firmware",
                hint="--firmware FILE.elf, or a fixture `firmware` that gives its path",
            )
        target = boards.load(self.name)
        with _emulator(target, firmware) as (process, line):
            yield Dut(self.name, line, lambda: _status(process))


@dataclass(frozen=True)
class Lab:
    """A device of the hardware map."""

    device: Device

    @property
    def board(self) -> str:
        return self.device.board

    @contextlib.contextmanager
    def opened(self, firmware: Path | None) -> Iterator[Dut]:
        device = self.device
        with _alone(device), contextlib.ExitStack() as stack:
            _script(device.pre_script)
            if firmware is not None and device.flash_before:
                _flash(device, firmware)
            line = stack.enter_context(_line(device))
            if firmware is not None and not device.flash_before:
                _flash(device, firmware)
            _script(device.post_flash_script)
            stack.callback(_script, device.post_script)
            yield Dut(self.board, line, lambda: None)


Target = Emulated | Lab


class Choice:
    """What the command line leaves: emulators, devices, or one of them."""

    def __init__(self, target: str | None, lab: Path | None) -> None:
        self.devices = hardware_map.read(lab) if lab is not None else ()
        self.emulated: str | None = None  # a board; "": any
        if target is None:
            self.emulated = ""
            return
        self.devices = tuple(one for one in self.devices if one.is_a(target))
        if self.devices:
            return
        self.emulated = "" if target == "qemu" else target
        if target != "qemu" and not _has_emulator(target):
            where = f"in {lab}" if lab is not None else "without --hardware-map"
            raise SdkError(
                f"--target {target}: no such device {where}, and no emulated board"
            )

    def of(self, wanted: Wanted) -> Target | None:
        """The first that has what a test wants."""
        for device in self.devices:
            is_it = not wanted.boards or any(map(device.is_a, wanted.boards))
            if is_it and set(wanted.fixtures) <= set(device.fixtures):
                return Lab(device)
        if self.emulated is None or wanted.hardware or wanted.fixtures:
            return None
        for name in wanted.boards or (self.emulated or _USUAL_BOARD,):
            if self.emulated in ("", name) and _has_emulator(name):
                return Emulated(name)
        return None


def _has_emulator(name: str) -> bool:
    try:
        return boards.load(name).runner.kind != "none"
    except SdkError:
        return False


# ---- emulators -----------------------------------------------------------------------


@contextlib.contextmanager
def _emulator(
    target: boards.Board, firmware: Path
) -> Iterator[tuple[subprocess.Popen[bytes], Wire]]:
    """Its console by semihosting and its serial port are one line."""
    if target.runner.kind != "qemu-system":
        with _process(emulator.command(target, firmware.resolve())) as (process, line):
            yield process, line
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        serial = f"socket,host=127.0.0.1,port={server.getsockname()[1]}"
        console = ["-semihosting-config", "enable=on,target=native,arg=firmware"]
        words = emulated.command(target, firmware, serial, console)
        with (
            _process(words) as (process, line),
            emulated.accepted(server, process, line.said) as uart,
        ):
            line.join(uart)
            yield process, line


class _Pipes:
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
        found = b""
        for one in select.select(self._open, [], [], timeout_s)[0]:
            try:
                data = os.read(one, 65536)
            except OSError:  # a terminal whose other end is closed
                data = b""
            found += data
            if not data:
                self._open.remove(one)
        if not found and not self._open:
            raise WireGoneError(f"{self.name} has ended")
        return found

    def write(self, data: bytes) -> None:
        try:
            while data and self._told is not None:
                data = data[os.write(self._told, data) :]
        except OSError as error:
            raise WireGoneError(f"{self.name} has ended") from error

    def close(self) -> None:
        """Its files are others'."""


@contextlib.contextmanager
def _process(
    words: Sequence[str],
) -> Iterator[tuple[subprocess.Popen[bytes], _Pipes]]:
    pipe, stderr = subprocess.PIPE, subprocess.STDOUT
    try:
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=stderr)
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    assert process.stdin is not None and process.stdout is not None
    with process.stdin as told, process.stdout as said:
        try:
            yield process, _Pipes(words[0], said.fileno(), told.fileno())
        finally:
            emulator.stop(process)


def _status(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(0.5)
    except subprocess.TimeoutExpired:
        return None


# ---- devices -------------------------------------------------------------------------


@contextlib.contextmanager
def _alone(device: Device) -> Iterator[None]:
    """One test at a time, also of other processes."""
    key = f"{device.serial} {device.serial_pty} {device.probe_id}"
    name = f"ember-device-{hashlib.sha256(key.encode()).hexdigest()[:16]}.lock"
    with (Path(tempfile.gettempdir()) / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _line(device: Device) -> Iterator[Wire]:
    if device.serial_pty is not None:
        with _terminal(shlex.split(device.serial_pty)) as line:
            yield line
        return
    baud = device.baud
    if baud is None:
        described = boards.load(device.board).uart
        baud = described.baud if described is not None else _BAUD
    opened = wire.open_port(str(device.serial), baud)
    try:
        yield opened
    finally:
        opened.close()


@contextlib.contextmanager
def _terminal(words: Sequence[str]) -> Iterator[Wire]:
    """A command that shows what the board says, such as a viewer of RTT."""
    ours, its = pty.openpty()
    try:
        process = subprocess.Popen(words, stdin=its, stdout=its, stderr=its)
    except OSError as error:
        raise SdkError(f"cannot start {words[0]}: {error.strerror}") from error
    finally:
        os.close(its)
    try:
        yield _Pipes(words[0], ours, ours)
    finally:
        emulator.stop(process)
        os.close(ours)


def _flash(device: Device, firmware: Path) -> None:
    words = [sys.executable, "-m", "ember", "flash", str(firmware)]
    words += ["--board", device.board]
    words += ["--probe", device.probe_id] if device.probe_id else []
    words += ["--method", device.flasher] if device.flasher else []
    _run(words, f"flashing {device.id}", device.flash_timeout)


def _script(path: str | None) -> None:
    if path is not None:
        _run([path], path, None)


def _run(words: Sequence[str], what: str, timeout_s: float | None) -> None:
    try:
        done = subprocess.run(
            words,
            check=False,
            timeout=timeout_s,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise SdkError(f"{what}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise SdkError(f"{what} took longer than {timeout_s:g} s") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise SdkError(f"{what} failed: {said or f'exit status {done.returncode}'}")
