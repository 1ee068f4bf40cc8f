"""The programs that flash boards: where each is, and what installs it."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ember.errors import SdkError


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


def path(tool: str) -> str:
    """The executable of `tool`; an SdkError that says what installs it."""
    program = PROGRAMS[tool]
    place = program.find()
    if place is None:
        raise SdkError(f"{program.names[0]} is not installed", hint=program.install)
    return place
