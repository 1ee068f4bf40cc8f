"""An order becomes a plan of the board's flasher, which is run and verified.

Then the board's console can be shown until its program ends.
"""

from __future__ import annotations

import codecs
import io
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ember.boards import Board
from ember.boards.keys import Flasher, Uf2
from ember.errors import SdkError, UsageError
from ember.flash import debuggers, dfu, messages, probes, uf2
from ember.flash.plans import FlashOrder, FlashPlan, Read, ToolRun
from ember.hil import wire
from ember.hil.wire import Wire

# Each takes the facts of its own tool.
_PLANS: dict[str, Callable[[FlashOrder, Any], FlashPlan]] = {
    "pyocd": debuggers.pyocd,
    "openocd": debuggers.openocd,
    "jlink": debuggers.jlink,
    "st-flash": debuggers.st_flash,
    "dfu-util": dfu.plan,
    "uf2": uf2.plan,
    "gdb": debuggers.gdb,
}


def plan(order: FlashOrder, facts: Flasher) -> FlashPlan:
    """The files and command lines by which the tool of `facts` flashes the board."""
    return _PLANS[facts.tool](order, facts)


_START_S = 60.0  # time limit of a step ..
_BYTE_S = 1 / 500  # .. and what each byte of the image adds
Say = Callable[[str], None]


def need(facts: Flasher, probe: str | None) -> None:
    """Raises SdkError if the tool is missing or would have to guess the probe."""
    if facts.tool in probes.PROGRAMS:
        probes.executable(facts.tool)
    probes.need_one(facts.tool, probe)


def run(
    plan: FlashPlan,
    facts: Flasher,
    say: Say,
    probe: str | None = None,
    limit: float | None = None,
) -> None:
    """Runs every step of `plan`. Raises SdkError with the step that failed, and why.

    limit -- seconds that a step may take; None: depends on the image's size
    """
    with tempfile.TemporaryDirectory(prefix="ember-flash-") as name:
        folder = Path(name)
        for file, data in plan.files.items():
            (folder / file).write_bytes(data)
        size = sum(len(read.data) for step in plan.steps for read in step.reads)
        limit = limit or _START_S + size * _BYTE_S
        for step in plan.steps:
            say(f"{plan.tool}: {step.what}")
            if isinstance(facts, Uf2):
                data = plan.files[step.argv[1]]
                uf2.copy(data, step.argv[1], uf2.choose(facts, probe))
                continue
            output = _output_of_step(plan, step, folder, limit)
            for read in step.reads:
                _compare(plan, step, read, folder, output)


def _output_of_step(plan: FlashPlan, step: ToolRun, folder: Path, limit: float) -> str:
    words = [probes.executable(plan.tool), *step.argv[1:]]
    try:
        done = subprocess.run(
            words,
            check=False,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        raise SdkError(
            f"{plan.tool}, {step.what}: not done after {limit:.0f} s; the flash may"
            " be partly written",
            hint="check the connection with `ember probes`, or wait longer with"
            " --timeout",
        ) from None
    output = done.stdout.decode("utf-8", "replace")
    # gdb -batch and pyocd commander end with 0 after some failures.
    if done.returncode != 0 or messages.failed(plan.tool, output):
        raise messages.explain(plan.tool, step, output, done.returncode)
    return output


def _compare(
    plan: FlashPlan, step: ToolRun, read: Read, folder: Path, output: str
) -> None:
    path = folder / read.file
    content = path.read_bytes() if path.is_file() else b""
    if len(content) != len(read.data):
        raise messages.explain(plan.tool, step, output, 0)
    mask = read.mask or b"\xff" * len(content)
    wrong = [
        at
        for at, (is_, want, bits) in enumerate(
            zip(content, read.data, mask, strict=True)
        )
        if (is_ ^ want) & bits
    ]
    if not wrong:
        return
    if step.chip:
        is_ = int.from_bytes(content, "little") & int.from_bytes(mask, "little")
        want = int.from_bytes(read.data, "little")
        raise SdkError(
            f"wrong chip: its identity at {read.address:#010x} is {is_:#x}, not"
            f" {want:#x}; nothing was written",
            hint="check --board and which board the probe is connected to",
        )
    at = wrong[0]
    raise SdkError(
        f"verify failed: {len(wrong)} of {len(content)} bytes differ, the first at"
        f" {read.address + at:#010x}: {content[at]:#04x}, not {read.data[at]:#04x}",
        hint="flash again; if it still differs, the flash is worn or locked, or holds"
        " another firmware",
    )


# ---- the console of the board --------------------------------------------------------


_END = re.compile(r"EMBER EXIT (\d+)\n")  # as runtime_c/port/uart/console.c says it
_LONGEST = 32  # characters that _END can match
_POLL_S = 0.2


def connect_console(board: Board, url: str | None, baud: int | None) -> Wire:
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


def show_console(opened: Wire, to: IO[str]) -> int:
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
