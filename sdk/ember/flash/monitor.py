"""What a flashed board says over its serial port, until its program ends."""

from __future__ import annotations

import codecs
import io
import re
from typing import IO

from ember.boards import Board
from ember.errors import SdkError, UsageError
from ember.flash import probes
from ember.hil import wire
from ember.hil.wire import Wire

_END = re.compile(r"EMBER EXIT (\d+)\n")  # as runtime_c/port/uart/console.c says it
_LONGEST = 32  # characters that _END can match
_POLL_S = 0.2


def connect(board: Board, url: str | None, baud: int | None) -> Wire:
    """The board's port, opened: `url`, or the only one that is connected."""
    need_console(board)
    assert board.uart is not None
    return wire.open_port(url or _only_port(), baud or board.uart.baud)


def need_console(board: Board) -> None:
    """An SdkError when its firmware says nothing on a serial port."""
    if board.uart is None or board.console != "uart":
        raise SdkError(
            f"firmware of {board.name} has no console on a serial port",
            hint="add `uart:` and `console: uart` to the board's file: docs/boards.md",
        )


def show(opened: Wire, to: IO[str]) -> int:
    """Pass on what comes until the program tells its exit status, which is the result;
    0 when a person ends it with Ctrl-C.
    """
    utf_8 = codecs.getincrementaldecoder("utf-8")("replace")
    decoder = io.IncrementalNewlineDecoder(utf_8, translate=True)
    recent = ""
    try:
        while (end := _END.search(recent)) is None:
            came = decoder.decode(opened.read(_POLL_S))
            to.write(came)
            to.flush()
            recent = recent[-_LONGEST:] + came
    except KeyboardInterrupt:
        return 0
    return int(end[1])


def _only_port() -> str:
    ports = [port.id for port in probes.ports()]
    if len(ports) == 1:
        return ports[0]
    listed = ": " + ", ".join(ports) if ports else ""
    raise UsageError(
        f"{len(ports) or 'no'} serial ports are connected{listed}",
        hint="choose the board's with --port URL",
    )
