"""A place of a labgrid lab becomes a line: acquired, powered, opened, released.

A separate process holds the place (keeper.py), so that it is released however this one
ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ember import output
from ember.boards import Board
from ember.errors import SdkError, UsageError
from ember.hil import labgrid, line, wire
from ember.hil.labgrid import LabPlace, LabResource, PlaceTakenError
from ember.hil.wire import Wire
from ember.progress import doing
from ember.toolchain.emulator import RunResult

_RELEASE_S = 15.0  # after which the keeper continues without us
_APPEAR_S = 30.0  # a board that was switched on enumerates on USB
_LOOK_S = 0.5
_TURN_S = 2.0  # between two attempts to acquire
_POWER_S = 90.0
_BAUD = 115200
_SERIAL = "NetworkSerialPort"
PROBE = "NetworkUSBDebugger"
_CONSOLE = "console"  # the name of the one to use, of several
_POWER = (
    *("NetworkPowerPort", "NetworkUSBPowerPort", "NetworkSiSPMPowerPort"),
    *("PDUDaemonPort", "TasmotaPowerPort", "NetworkYKUSHPowerPort"),
)


@dataclass(frozen=True)
class PlaceOrder:
    """A place as a user asks for it."""

    name: str  # or an alias, or +TOKEN of a reservation
    wait_s: float = 0.0  # for others to release it
    is_acquired: bool = False  # by hand: neither acquired, powered nor released here


@dataclass
class PlaceLine:
    """The board of a place that is held, as a Line of line.py."""

    place: str
    board_tag: str | None  # the place's tag `board`
    is_acquired: bool = False
    board: str | None = None  # as --board takes it, for flashing
    baud: int | None = None
    needs_firmware: bool = False  # the runner is flashed first
    takes_files: bool = False
    is_flashed: bool = True
    _flashed: Path | None = field(default=None, repr=False)

    @property
    def options(self) -> str:
        words = [f"--place {self.place}"]
        words += ["--acquired"] if self.is_acquired else []
        words += [f"--baud {self.baud}"] if self.baud else []
        words += ["--flash"] if self.needs_firmware else []
        return " ".join(words)

    def check_board(self, name: str) -> None:
        """Raises UsageError if the place's tag names another board."""
        if self.board_tag not in (None, name):
            raise UsageError(
                f"place {self.place} has a {self.board_tag}, not a {name}",
                hint=f"give --board {self.board_tag}, or correct the tag `board` with"
                " `labgrid-client set-tags`",
            )

    def run(
        self, board: Board, firmware: Path | None, stream: bytes, limit_s: float
    ) -> tuple[RunResult, bytes]:
        with self.opened(board) as opened:
            if firmware is not None and firmware != self._flashed:
                self.flash(self.board or board.name, firmware)
                self._flashed = firmware
            try:
                result, results = line.talk(opened, stream, limit_s)
            except SdkError:
                self.check()
                raise
        if result.fault is not None:
            self.check()
        return result, results

    @contextlib.contextmanager
    def opened(self, board: Board) -> Iterator[Wire]:
        """The board's serial port, at --baud or the rate of the board's file."""
        usual = board.uart.baud if board.uart is not None else _BAUD
        port = wire.open_port(_url(_serial_port(self.place)), self.baud or usual)
        try:
            yield port
        finally:
            port.close()

    def flash(self, board: str, firmware: Path) -> None:
        """Flashes by `ember flash`, through the probe of the place."""
        words = [sys.executable, "-m", "ember", "flash", str(firmware)]
        words += ["--board", board, "--place", self.place, "--acquired"]
        with doing(f"flashing {self.place}"):
            done = subprocess.run(
                words,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
            )
        if done.returncode != 0:
            what, _, hint = done.stderr.strip().partition("\n  hint: ")
            what = what.removeprefix("ember flash: ")
            raise SdkError(what or f"flashing {self.place} failed", hint or None)

    def need_probe(self) -> None:
        """Raises SdkError if nothing at the place can flash its board."""
        if "LG_ENV" in os.environ:  # which names a driver
            return
        place = labgrid.look_up(self.place)
        if not place.of_kind(PROBE):
            raise SdkError(
                f"place {place.name} has no debug probe: it has {_kinds(place)}",
                hint="export a USBDebugger, or name a driver in the file of LG_ENV:"
                " docs/lab.md",
            )

    def check(self) -> None:
        """Raises SdkError if the place was lost: its exporter, or to another user."""
        place = labgrid.look_up(self.place)
        if place.lost:
            raise labgrid.exporter_lost(place.name, place.lost)
        if place.holder != labgrid.myself() and not self.is_acquired:
            now = f"{place.holder} has it" if place.holder else "nobody has it"
            raise SdkError(f"place {place.name} was released during the run: {now}")


@contextlib.contextmanager
def held(order: PlaceOrder) -> Iterator[PlaceLine]:
    """The place, acquired and power-cycled, until the block ends. Raises
    PlaceTakenError if others hold it for longer than `order.wait_s`."""
    place = labgrid.look_up(order.name)
    tag = place.tags.get("board")
    if order.is_acquired:
        _need_mine(place)
        yield PlaceLine(place.name, tag, is_acquired=True)
        return
    keeper = _acquired(place, order.wait_s)
    try:
        _cycle(place)
        yield PlaceLine(place.name, tag)
    finally:
        _release(keeper, place.name)


def _need_mine(place: LabPlace) -> None:
    if place.holder is None:
        raise SdkError(
            f"place {place.name} is not acquired",
            hint=f"`labgrid-client -p {place.name} acquire`, or leave out --acquired",
        )
    if place.holder.split("/")[-1] != labgrid.myself().split("/")[-1]:
        raise PlaceTakenError(f"place {place.name} is taken by {place.holder}")


# ---- acquiring -----------------------------------------------------------------------


def _acquired(place: LabPlace, wait_s: float) -> subprocess.Popen[bytes]:
    """The process that holds the place. Whoever waits polls; there is no queue."""
    deadline = time.monotonic() + wait_s
    with doing(f"waiting for place {place.name}"):
        while True:
            try:
                return _keeper(place.name)
            except PlaceTakenError as error:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise _given_up(error, wait_s) from None
                time.sleep(min(left, _TURN_S))


def _given_up(error: PlaceTakenError, wait_s: float) -> PlaceTakenError:
    waited = f" (waited {wait_s:g} s)" if wait_s else ""
    by_hand = "by yourself" in error.what
    return PlaceTakenError(
        error.what + waited,
        hint="use it as it is with --acquired, or release it: labgrid-client release"
        if by_hand
        else "wait with --wait SECONDS, or choose another: labgrid-client places",
    )


def _keeper(place: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "ember.hil.keeper"]
    words += [labgrid.program(), place, labgrid.myself()]
    process = subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=labgrid.environment(),
        start_new_session=True,  # Ctrl-C is not for it
    )
    try:
        status, said = _answer(process, place)
        if status != 0:
            raise labgrid.explain(place, ["acquire"], said)
    except BaseException:
        _close(process)
        raise
    return process


def _answer(process: subprocess.Popen[bytes], place: str) -> tuple[int, str]:
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], labgrid.LIMIT_S)[0]:
        raise SdkError(
            f"place {place} was not acquired within {labgrid.LIMIT_S:g} s",
            hint="check the exporters of its resources: labgrid-client show",
        )
    text = process.stdout.readline()
    if not text:
        raise SdkError(f"the process that holds place {place} ended")
    status, said = json.loads(text)
    return int(status), str(said)


def _close(process: subprocess.Popen[bytes]) -> None:
    """Tells the keeper that its parent is done."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _release(process: subprocess.Popen[bytes], place: str) -> None:
    _close(process)
    try:
        status = process.wait(_RELEASE_S)
    except subprocess.TimeoutExpired:
        status = None
    if status != 0:
        goes_on = "; ember keeps trying for ten minutes" if status is None else ""
        output.note(
            f"place {place} is not released yet: no answer from the coordinator"
            + goes_on,
            f"labgrid-client -p {place} release",
        )


# ---- power and the serial port -------------------------------------------------------


def _cycle(place: LabPlace) -> None:
    """Power-cycles the place, if it has a switch or LG_ENV names one."""
    configured = "LG_ENV" in os.environ
    if not configured and not any(item.kind in _POWER for item in place.resources):
        return
    with doing(f"switching {place.name} off and on"):
        try:
            labgrid.call(
                place.name,
                *("power", "cycle"),
                limit_s=_POWER_S,
                with_configuration=configured,
            )
        except SdkError as error:
            if not configured or "no compatible resource" not in error.what:
                raise


def _serial_port(name: str) -> LabResource:
    """The port, once it is ready: after a power cycle it has to appear first."""
    deadline = time.monotonic() + _APPEAR_S
    with doing(f"waiting for the serial port of {name}"):
        while True:
            place = labgrid.look_up(name)
            if place.lost:
                raise labgrid.exporter_lost(place.name, place.lost)
            port = _chosen(place, place.of_kind(_SERIAL))
            if port.is_available and port.params.get("port") is not None:
                return port
            if time.monotonic() >= deadline:
                raise SdkError(
                    f"place {name}: serial port {port.name} of {port.exporter} is not"
                    f" there after {_APPEAR_S:g} s",
                    hint="check the USB cable and the power of the board",
                )
            time.sleep(_LOOK_S)


def _chosen(place: LabPlace, ports: Sequence[LabResource]) -> LabResource:
    named = [port for port in ports if port.name == _CONSOLE] or list(ports)
    if len(named) == 1:
        return named[0]
    if named:
        names = ", ".join(port.name for port in named)
        raise SdkError(
            f"place {place.name} has {len(named)} serial ports: {names}",
            hint=f"name the one to use: labgrid-client -p {place.name} add-named-match"
            f" EXPORTER/GROUP/{_SERIAL}/{named[0].name} {_CONSOLE}",
        )
    raise SdkError(
        f"place {place.name} has no serial port: it has {_kinds(place)}",
        hint="export a USBSerialPort, RawSerialPort or NetworkSerialPort: docs/lab.md",
    )


def _kinds(place: LabPlace) -> str:
    return ", ".join(sorted({item.kind for item in place.resources})) or "nothing"


def _url(port: LabResource) -> str:
    """The port as --port takes it."""
    extra = port.params.get("extra") or {}
    if extra.get("proxy_required"):
        raise SdkError(
            f"exporter {port.exporter} is isolated: its ports need an ssh tunnel,"
            " which ember does not make",
            hint="start labgrid-exporter without --isolated, or run ember on"
            f" {extra.get('proxy')}",
        )
    host, number = str(port.params["host"]), port.params["port"]
    host = f"[{host}]" if ":" in host else host
    if port.params.get("protocol", "rfc2217") == "raw":
        return f"socket://{host}:{number}"
    return f"rfc2217://{host}:{number}?ign_set_control&timeout=3"
