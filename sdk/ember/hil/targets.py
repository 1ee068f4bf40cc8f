"""An emulator, a device of a hardware map or a place of a lab becomes a `Target`."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ember import boards, files, paths
from ember.errors import SdkError, problem_list
from ember.hil import labgrid, places, wire
from ember.hil.dut import Dut
from ember.hil.line import emulator_command, server
from ember.hil.places import PlaceLine, PlaceOrder
from ember.hil.wire import Wire, process_of
from ember.toolchain import emulator

_USUAL_BOARD = "mps2-an386"


@dataclass(frozen=True)
class Wanted:
    """What a test requires of its board."""

    boards: tuple[str, ...] = ()  # one of them; none: any
    fixtures: tuple[str, ...] = ()
    hardware: bool = False

    def __str__(self) -> str:
        words = [" or ".join(self.boards) or "a board"]
        words += [f"with {fixture}" for fixture in self.fixtures]
        return " ".join([*words, "as hardware"] if self.hardware else words)


@dataclass(frozen=True)
class EmulatedTarget:
    """An emulated board."""

    name: str

    @property
    def board(self) -> str:
        return self.name

    @contextlib.contextmanager
    def opened(self, firmware: Path | None) -> Iterator[Dut]:
        if firmware is None:
            raise SdkError(
                f"the emulator of {self.name} needs firmware",
                hint="give --firmware FILE.elf, or a fixture `firmware` that returns"
                " its path",
            )
        target = boards.load(self.name)
        with _emulator(target, firmware) as (process, line):
            yield Dut(self.name, line, lambda: _status(process))


@dataclass(frozen=True)
class LabTarget:
    """A device of the hardware map."""

    device: Device

    @property
    def board(self) -> str:
        return self.device.board

    def opened(self, firmware: Path | None) -> contextlib.AbstractContextManager[Dut]:
        return opened_device(self.device, firmware)


@dataclass
class LentTarget:
    """The board of a labgrid place. It is held until close(), or for each test."""

    order: PlaceOrder
    board: str  # the place's tag `board`
    features: frozenset[str]  # its tags
    is_kept: bool = True
    _line: PlaceLine | None = None
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @contextlib.contextmanager
    def opened(self, firmware: Path | None) -> Iterator[Dut]:
        described = boards.load(self.board)
        if self._line is None:
            self._line = self._held.enter_context(places.held(self.order))
        try:
            with self._line.opened(described) as opened:
                if firmware is not None:
                    self._line.flash(self.board, firmware)
                yield Dut(described.name, opened, lambda: None)
        finally:
            if not self.is_kept:
                self.close()

    def close(self) -> None:
        """Release the place."""
        self._line = None
        self._held.close()

    def has(self, wanted: Wanted) -> bool:
        names = (self.board, Path(self.board).stem)
        is_it = not wanted.boards or any(name in wanted.boards for name in names)
        return is_it and self.features.issuperset(wanted.fixtures)


def lent(order: PlaceOrder, *, is_kept: bool) -> LentTarget:
    """The place, not acquired yet, with the board and features that its tags name."""
    place = labgrid.look_up(order.name)
    board = place.tags.get("board")
    if not board:
        raise SdkError(
            f"place {place.name} has no tag `board`, which says which board it is",
            hint=f"labgrid-client -p {place.name} set-tags board=NAME",
        )
    boards.load(board)
    return LentTarget(order, board, frozenset(place.tags), is_kept)


Target = EmulatedTarget | LabTarget | LentTarget


class Choice:
    """The targets that the command line permits: emulators, devices, a place."""

    def __init__(
        self, target: str | None, lab: Path | None, place: LentTarget | None = None
    ) -> None:
        self.place = place
        self.devices = read_hardware_map(lab) if lab is not None else ()
        self.emulated: str | None = None  # a board; "": any
        if target is None:
            self.emulated = ""
            return
        self.devices = tuple(device for device in self.devices if device.is_a(target))
        if self.devices:
            return
        self.emulated = "" if target == "qemu" else target
        if target != "qemu" and not _has_emulator(target):
            where = f"in {lab}" if lab is not None else "without --hardware-map"
            raise SdkError(
                f"--target {target}: no such device {where}, and no emulated board"
            )

    def of(self, wanted: Wanted) -> Target | None:
        """The first target that has what a test requires, or None."""
        if self.place is not None and self.place.has(wanted):
            return self.place
        for device in self.devices:
            is_it = not wanted.boards or any(map(device.is_a, wanted.boards))
            if is_it and set(wanted.fixtures) <= set(device.fixtures):
                return LabTarget(device)
        if self.emulated is None or wanted.hardware or wanted.fixtures:
            return None
        for name in wanted.boards or (self.emulated or _USUAL_BOARD,):
            if self.emulated in ("", name) and _has_emulator(name):
                return EmulatedTarget(name)
        return None


def _has_emulator(name: str) -> bool:
    try:
        return boards.load(name).runner.kind != "none"
    except SdkError:
        return False


@contextlib.contextmanager
def _emulator(
    target: boards.Board, firmware: Path
) -> Iterator[tuple[subprocess.Popen[bytes], Wire]]:
    """The emulator, with its semihosting console and its serial port as one wire."""
    if target.runner.kind != "qemu-system":
        words = emulator.command(target, firmware.resolve())
        with process_of(words) as (process, line):
            yield process, line
        return
    with server() as lines:
        console = ["-semihosting-config", "enable=on,target=native,arg=firmware"]
        words = emulator_command(target, firmware, lines.address, console)
        with (
            process_of(words) as (process, line),
            lines.accept(process, line.said) as uart,
        ):
            line.join(uart)
            yield process, line


def _status(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(0.5)
    except subprocess.TimeoutExpired:
        return None


# ---- a device of a hardware map, in which Zephyr's twister describes a lab -----------


# Tools with the same name in both; for others the board's first flasher is used.
_FLASHERS = ("pyocd", "openocd", "jlink", "dfu-util", "uf2", "gdb", "st-flash")


class Device(BaseModel):
    """One board of the lab. Fields that only twister uses are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    id: str
    platform: str | tuple[str, ...]
    product: str = ""
    runner: str = ""
    serial: str | None = None
    serial_pty: str | None = None  # a command that is the line, by a terminal
    baud: int | None = None
    probe_id: str | None = None
    connected: bool = True
    fixtures: tuple[str, ...] = ()
    pre_script: str | None = None
    post_flash_script: str | None = None
    post_script: str | None = None
    flash_timeout: int = 120
    flash_before: bool = False  # before the line is opened

    @property
    def flasher(self) -> str | None:
        return self.runner if self.runner in _FLASHERS else None

    @property
    def platforms(self) -> tuple[str, ...]:
        return (self.platform,) if isinstance(self.platform, str) else self.platform

    def is_a(self, name: str) -> bool:
        """Whether `name` is its id or one of its platforms, as Zephyr or Ember spells
        it: nrf52840dk/nrf52840 is nrf52840-dk."""
        if name == self.id or name in self.platforms:
            return True
        return _plain(name) in {_plain(_named(platform)) for platform in self.platforms}

    @property
    def board(self) -> str:
        """Its name for Ember, or its file."""
        for platform in self.platforms:
            if _is_file(platform):
                return platform
        for name in boards.names():
            if self.is_a(name):
                return name
        raise SdkError(
            f"device {self.id}: no board is named {' or '.join(self.platforms)}",
            hint="see `ember boards`",
        )


def _is_file(platform: str) -> bool:
    return platform.endswith(".yaml")


def _named(platform: str) -> str:
    """The name of a platform, which may be the file of a board."""
    return Path(platform).stem if _is_file(platform) else platform


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.split("/", maxsplit=1)[0].lower())


def read_hardware_map(path: Path) -> tuple[Device, ...]:
    """The devices of the file that are connected."""
    data = files.read_yaml(path)
    try:
        devices = TypeAdapter(tuple[Device, ...]).validate_python(data or [])
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise SdkError(problem_list(str(path), problems)) from error
    connected = tuple(device for device in devices if device.connected)
    for device in connected:
        if device.serial is None and device.serial_pty is None:
            raise SdkError(f"{path}: device {device.id} has no `serial`")
    return connected


# ---- a device in use -----------------------------------------------------------------


_BAUD = 115200


@contextlib.contextmanager
def opened_device(device: Device, firmware: Path | None) -> Iterator[Dut]:
    """The device, flashed with `firmware` if there is any, until the block ends."""
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
    """Locks the device for one test, also against other processes."""
    key = f"{device.serial} {device.serial_pty} {device.probe_id}"
    name = f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.lock"
    folder = paths.writable_folder(paths.cache() / "devices")
    with (folder / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _line(device: Device) -> Iterator[Wire]:
    if device.serial_pty is not None:
        with wire.terminal(shlex.split(device.serial_pty)) as line:
            yield line
        return
    baud = device.baud
    if baud is None:
        described = boards.load(device.board).uart
        baud = described.baud if described is not None else _BAUD
    port = wire.open_port(str(device.serial), baud)
    try:
        yield port
    finally:
        port.close()


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
