"""Which flash tools are installed, and which probes, ports and drives are connected."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from serial.tools import list_ports

from ember import files
from ember.errors import SdkError, UsageError
from ember.flash import uf2

# ---- programs that flash boards ------------------------------------------------------


@dataclass(frozen=True)
class FlashProgram:
    tool: str  # what a board's `flashers` calls it
    names: tuple[str, ...]  # of its executable, the first that exists
    install: str
    package: str = ""  # of Debian

    def find(self) -> str | None:
        """Its path: beside this Python, as pip puts it, or on the PATH."""
        beside = Path(sys.executable).parent
        for name in self.names:
            place = shutil.which(name, path=str(beside)) or shutil.which(name)
            if place:
                return place
        return None


_JLINK = "install J-Link Software from segger.com/downloads/jlink"
PROGRAMS = {
    program.tool: program
    for program in (
        FlashProgram("pyocd", ("pyocd",), "pip install 'ember[flash]'"),
        FlashProgram("openocd", ("openocd",), "apt-get install openocd", "openocd"),
        FlashProgram("jlink", ("JLinkExe", "JLink"), _JLINK),
        FlashProgram(
            "st-flash", ("st-flash",), "apt-get install stlink-tools", "stlink-tools"
        ),
        FlashProgram("dfu-util", ("dfu-util",), "apt-get install dfu-util", "dfu-util"),
        FlashProgram(
            "gdb",
            ("gdb-multiarch", "arm-none-eabi-gdb"),
            "apt-get install gdb-multiarch",
            "gdb-multiarch",
        ),
        FlashProgram("labgrid", ("labgrid-client",), "pip install 'ember[labgrid]'"),
    )
}


def executable(tool: str) -> str:
    """The executable of `tool`. Raises SdkError with what installs it."""
    program = PROGRAMS[tool]
    place = program.find()
    if place is None:
        raise SdkError(f"{program.names[0]} is not installed", hint=program.install)
    return place


# ---- what is connected ---------------------------------------------------------------


# Tools that write through a debug probe, so that several probes are a question.
_BY_PROBE = ("pyocd", "openocd", "jlink", "st-flash")
_LIMIT_S = 30


@dataclass(frozen=True)
class Connected:
    """One thing that is connected; `id` is what --probe or --port takes."""

    kind: str  # probe, boot loader, port, drive
    id: str
    title: str
    tools: tuple[str, ...]  # of `flashers`, that can use it


@dataclass(frozen=True)
class Survey:
    connected: tuple[Connected, ...]
    unseen: tuple[tuple[str, str, str], ...]  # what cannot be looked for, why, remedy


def survey() -> Survey:
    """Everything that the installed tools see."""
    connected: list[Connected] = []
    unseen = []
    for kind, tool, look in (
        ("debug probes", "pyocd", _debug),
        ("ST-LINK probes", "st-flash", _st_link),
        ("DFU boot loaders", "dfu-util", _dfu),
    ):
        seen = look()
        if seen is None:
            program = PROGRAMS[tool]
            unseen.append((kind, f"{tool} is not installed", program.install))
        known = {probe.id for probe in connected}
        connected += [gap for gap in seen or () if gap.id not in known]
    if PROGRAMS["jlink"].find() is None:
        install = PROGRAMS["jlink"].install
        unseen.append(
            ("J-Link by SEGGER's tools", "JLinkExe is not installed", install)
        )
    connected += ports()
    connected += [
        Connected(
            "drive", str(drive.place), f"{drive.model} ({drive.board_id})", ("uf2",)
        )
        for drive in uf2.mounted()
    ]
    return Survey(tuple(connected), tuple(unseen))


def need_one(tool: str, probe: str | None) -> None:
    """Raises UsageError if `tool` would have to guess which probe is meant."""
    if probe is not None or tool not in _BY_PROBE:
        return
    seen = {
        connected.id: connected
        for connected in [*(_debug() or ()), *(_st_link() or ())]
    }.values()
    if len(seen) > 1:
        listed = ", ".join(f"{connected.id} ({connected.title})" for connected in seen)
        raise UsageError(
            f"{len(seen)} debug probes are connected: {listed}",
            hint="choose one with --probe ID; for pyocd, a prefix is enough",
        )


# ---- each kind; None: the tool is not installed --------------------------------------


_NAMES = ("vendor_name", "product_name")


def _debug() -> list[Connected] | None:
    output = _output_of("pyocd", "json", "--probes")
    if output is None:
        return None
    try:
        facts = files.parse_json(output, "what pyocd printed")
    except SdkError:
        return []
    boards = facts.get("boards") if isinstance(facts, dict) else None
    if not isinstance(boards, list):
        return []
    return [
        Connected(
            "probe",
            board["unique_id"],
            " ".join(str(board[key]) for key in _NAMES if board.get(key)),
            ("pyocd", "openocd"),
        )
        for board in boards
        if isinstance(board, dict) and isinstance(board.get("unique_id"), str)
    ]


def _st_link() -> list[Connected] | None:
    output = _output_of("st-flash", "--probe", program="st-info")
    if output is None:
        return None
    serials = re.findall(r"^\s*serial:\s*(\S+)", output, re.MULTILINE)
    chips = re.findall(r"^\s*(?:dev-type|descr):\s*(.+)", output, re.MULTILINE)
    chips += ["ST-LINK"] * (len(serials) - len(chips))
    return [
        Connected("probe", serial, f"ST-LINK, {chip}", ("st-flash", "openocd", "pyocd"))
        for serial, chip in zip(serials, chips, strict=False)
    ]


def _dfu() -> list[Connected] | None:
    output = _output_of("dfu-util", "--list")
    if output is None:
        return None
    pattern = r'Found DFU: \[(\w+:\w+)\].*?alt=0, name="(.*?)", serial="(.*?)"'
    return [
        Connected("boot loader", serial, f"{usb} {name}", ("dfu-util",))
        for usb, name, serial in re.findall(pattern, output)
    ]


def ports() -> list[Connected]:
    return [
        Connected("port", comport.device, comport.description or comport.hwid, ())
        for comport in list_ports.comports()
        if comport.hwid != "n/a"  # a name without a device
    ]


def _output_of(tool: str, *words: str, program: str | None = None) -> str | None:
    """What a tool prints, or None if it is not installed."""
    path = PROGRAMS[tool].find()
    if path is None:
        return None
    if program:
        path = path.removesuffix(tool) + program
    try:
        done = subprocess.run(
            [path, *words],
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=_LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
