"""Where a test of firmware runs: an emulator, a device of the lab, a place of one."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ember import boards
from ember.errors import SdkError
from ember.hil import devices, emulated, hardware_map, labgrid, places
from ember.hil.dut import Dut
from ember.hil.hardware_map import Device
from ember.hil.pipes import process_of
from ember.hil.places import PlaceLine, PlaceOrder
from ember.hil.wire import Wire
from ember.toolchain import emulator

_USUAL_BOARD = "mps2-an386"


@dataclass(frozen=True)
class Wanted:
    """What a test says of the board that it needs."""

    boards: tuple[str, ...] = ()  # one of them; none: any
    fixtures: tuple[str, ...] = ()
    hardware: bool = False

    def __str__(self) -> str:
        words = [" or ".join(self.boards) or "a board"]
        words += [f"with {fixture}" for fixture in self.fixtures]
        return " ".join([*words, "as hardware"] if self.hardware else words)


@dataclass(frozen=True)
class EmulatedTarget:
    """A board on this computer."""

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
class Lab:
    """A device of the hardware map."""

    device: Device

    @property
    def board(self) -> str:
        return self.device.board

    def opened(self, firmware: Path | None) -> contextlib.AbstractContextManager[Dut]:
        return devices.opened(self.device, firmware)


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
    """The place, which nobody is asked for yet; its tags say what it has."""
    place = labgrid.look_up(order.name)
    board = place.tags.get("board")
    if not board:
        raise SdkError(
            f"place {place.name} has no tag `board`, which says which board it is",
            hint=f"labgrid-client -p {place.name} set-tags board=NAME",
        )
    boards.load(board)
    return LentTarget(order, board, frozenset(place.tags), is_kept)


Target = EmulatedTarget | Lab | LentTarget


class Choice:
    """What the command line leaves: emulators, devices, a place, or one of them."""

    def __init__(
        self, target: str | None, lab: Path | None, place: LentTarget | None = None
    ) -> None:
        self.place = place
        self.devices = hardware_map.read(lab) if lab is not None else ()
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
        """The first that has what a test wants."""
        if self.place is not None and self.place.has(wanted):
            return self.place
        for device in self.devices:
            is_it = not wanted.boards or any(map(device.is_a, wanted.boards))
            if is_it and set(wanted.fixtures) <= set(device.fixtures):
                return Lab(device)
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
    """Its console by semihosting and its serial port are one line."""
    if target.runner.kind != "qemu-system":
        words = emulator.command(target, firmware.resolve())
        with process_of(words) as (process, line):
            yield process, line
        return
    with emulated.server() as lines:
        console = ["-semihosting-config", "enable=on,target=native,arg=firmware"]
        words = emulated.command(target, firmware, lines.address, console)
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
