"""The console of a board: objects of its port that the log and the end go through."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ember.boards import uart

if TYPE_CHECKING:
    from ember.toolchain.libraries import Libraries

_SEMIHOSTING = "semihosting"  # in the names of its objects


def without(libs: Libraries) -> Libraries:
    """The libraries without log, files and exit."""
    kept = tuple(
        object_ for object_ in libs.objects if not is_semihosting(object_.name)
    )
    return replace(libs, objects=kept)


def is_semihosting(name: str) -> bool:
    """Whether a file of a port is the console that a serial port stands for."""
    return _SEMIHOSTING in name


def of_board(libs: Libraries) -> Libraries:
    """The libraries with the console that the board's file says."""
    if libs.board.console != "uart":
        return libs
    compiled = _compiled(libs)
    objects = (*without(libs).objects, *compiled)
    return replace(libs, objects=objects, console=compiled[0].parent.name)


def _compiled(libs: Libraries) -> list[Path]:
    """The objects of the serial port as a console, from the cache once made."""
    assert libs.board.uart is not None
    sources = uart.console(libs.board.uart, libs.board.port)
    digest = hashlib.sha256()
    for path in (*sources, *sorted(sources[0].parent.glob("*.h"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    kept = libs.folder / f"console-{libs.board.uart.kind}-{digest.hexdigest()[:16]}"
    if not kept.is_dir():
        with tempfile.TemporaryDirectory(dir=libs.folder) as temporary:
            built = Path(temporary) / "built"
            built.mkdir()
            libs.compile(sources, built)
            _publish(built, kept)
    return sorted(kept.glob("*.o"))


def _publish(built: Path, kept: Path) -> None:
    try:
        os.rename(built, kept)  # noqa: PTH104 - atomic
    except OSError:
        if not kept.is_dir():  # else another process was faster
            raise
