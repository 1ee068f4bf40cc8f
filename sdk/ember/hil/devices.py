"""A device of the lab becomes a running board: flashed, its line open."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ember import boards, paths
from ember.errors import SdkError
from ember.hil import pipes, wire
from ember.hil.dut import Dut
from ember.hil.hardware_map import Device
from ember.hil.wire import Wire

_BAUD = 115200


@contextlib.contextmanager
def opened(device: Device, firmware: Path | None) -> Iterator[Dut]:
    """The device, with `firmware` if there is any, while the block lasts."""
    with _alone(device), contextlib.ExitStack() as stack:
        stack.callback(_script, device.post_script)
        _script(device.pre_script)
        if firmware is not None and device.flash_before:
            _flash(device, firmware)
        line = stack.enter_context(_line(device))
        if firmware is not None and not device.flash_before:
            _flash(device, firmware)
        _script(device.post_flash_script)
        yield Dut(device.board, line, lambda: None)


@contextlib.contextmanager
def _alone(device: Device) -> Iterator[None]:
    """One test at a time, also of other processes."""
    key = f"{device.serial} {device.serial_pty} {device.probe_id}"
    name = f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.lock"
    folder = paths.writable_folder(paths.cache() / "devices")
    with (folder / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _line(device: Device) -> Iterator[Wire]:
    if device.serial_pty is not None:
        with pipes.terminal(shlex.split(device.serial_pty)) as line:
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
