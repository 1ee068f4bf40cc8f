"""`ember flash`: write firmware to a board, read it back, start it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ember import boards, cases, files, output
from ember.boards import Board
from ember.boards.keys import Flasher, OpenOcd
from ember.cli import options
from ember.cli.options import AcquiredOption, PlaceOption, WaitOption
from ember.cli.test import BaudOption
from ember.errors import SdkError, UsageError
from ember.firmware import build, runner
from ember.flash import debuggers, perform, plans
from ember.flash.plans import FlashOrder, FlashPlan
from ember.hil import places as lab
from ember.hil.places import PlaceLine, PlaceOrder
from ember.hil.wire import Wire


def command(
    board: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Target board; see `ember boards`. Or a .yaml file."
        ),
    ],
    firmware: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="MODEL|ELF|CASE",
            help="A firmware.elf, or a model to build first; with --runner: cases.",
            show_default=False,
        ),
    ] = None,
    probe: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Probe to use if several are connected; see `ember probes`.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="TOOL", help="Flash tool. Default: the board's first flasher."
        ),
    ] = None,
    with_runner: Annotated[
        bool,
        typer.Option(
            "--runner",
            help="Write the firmware for `ember test --port`, with every kernel, or"
            " only those that the given cases need.",
        ),
    ] = False,
    verify_only: Annotated[
        bool,
        typer.Option(
            "--verify-only", help="Compare the flash with the firmware; write nothing."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show files and command lines.")
    ] = False,
    show_console: Annotated[
        bool,
        typer.Option(
            "--monitor",
            help="Then show the board's serial output until the program ends.",
        ),
    ] = False,
    port: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Serial port for --monitor: /dev/ttyACM0, socket://host:port",
        ),
    ] = None,
    baud: BaudOption = None,
    place: PlaceOption = None,
    wait: WaitOption = None,
    acquired: AcquiredOption = False,
    tool_arg: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="An argument for the tool; repeatable."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=1, help="Time limit of one step."),
    ] = None,
    json_to: output.JsonOption = None,
) -> int:
    if not show_console and (port or baud):
        raise UsageError("--port and --baud need --monitor")
    if show_console and with_runner:
        raise UsageError("the runner talks to `ember test --port`, not to --monitor")
    lent = options.order_of(place, wait, acquired)
    if lent is not None and (probe or port or tool_arg):
        raise UsageError("--probe, --port and --tool-arg are not for --place")
    target = boards.load(board)
    if target.header_missing:
        raise SdkError(*target.header_missing)
    if target.header_unsaid:
        output.note(*target.header_unsaid)
    facts = target.flasher(method) if lent is None else _of_place(target, method)
    elf = _firmware(firmware or [], target, board, with_runner)
    image = plans.read_image(elf, target)
    extra = tuple(_absolute(word) for word in tool_arg or ())
    order = FlashOrder(target, image, probe, not verify_only, extra)
    console = output.console(json_to)
    if dry_run:
        plan = _plan(order, facts, lent.name if lent else None)
        for line in plan.lines() if json_to != "-" else ():
            console.print(escape(line), soft_wrap=True)
        output.write_json(_facts(target.name, elf, plan, "planned"), json_to)
        return 0
    if lent is None:
        perform.need(facts, probe)
    with _held(lent, target) as held:
        plan = _plan(order, facts, held.place if held else None)
        # Open before the board starts, so that none of its output is lost.
        with _console(target, held, port, baud, wanted=show_console) as opened:
            perform.run(plan, facts, console.print, probe, timeout)
            done = f"{image.size} bytes {_done(plan, order)}"
            console.print(f"{target.name}: {done}; it runs")
            output.write_json(_facts(target.name, elf, plan, "done"), json_to)
            return perform.show_console(opened, console.file) if opened else 0


def _of_place(target: Board, method: str | None) -> Flasher:
    """OpenOCD, unless the file of LG_ENV names the driver."""
    if method not in (None, "openocd"):
        raise UsageError(
            f"--place flashes by OpenOCD, not by {method}",
            hint="name another driver in the file of LG_ENV: docs/lab.md",
        )
    return target.flasher(None if "LG_ENV" in os.environ else "openocd")


def _plan(order: FlashOrder, facts: Flasher, place: str | None) -> FlashPlan:
    if place is None:
        return perform.plan(order, facts)
    if configuration := os.environ.get("LG_ENV"):
        return debuggers.at_place_as_configured(
            order, Path(configuration).resolve(), place
        )
    assert isinstance(facts, OpenOcd)
    return debuggers.at_place(order, facts, place)


@contextlib.contextmanager
def _held(order: PlaceOrder | None, target: Board) -> Iterator[PlaceLine | None]:
    if order is None:
        yield None
        return
    with lab.held(order) as line:
        line.check_board(target.name)
        line.need_probe()
        yield line


@contextlib.contextmanager
def _console(
    target: Board,
    held: PlaceLine | None,
    port: str | None,
    baud: int | None,
    *,
    wanted: bool,
) -> Iterator[Wire | None]:
    if not wanted:
        yield None
    elif held is None:
        yield perform.connect_console(target, port, baud)
    else:
        perform.need_console(target)
        held.baud = baud
        with held.opened(target) as opened:
            yield opened


def _firmware(paths: list[Path], target: Board, board: str, with_runner: bool) -> Path:
    """The given ELF file, or one built from the given model or cases."""
    if with_runner:
        places = cases.find(paths) if paths else []
        return runner.serial(target, [cases.read(place) for place in places])
    if len(paths) != 1:
        raise UsageError(
            "give one model or firmware.elf",
            hint="or --runner, for `ember test --port`",
        )
    is_elf = False
    if not paths[0].is_dir():
        with files.opened(paths[0], "a model or firmware.elf") as file:
            is_elf = file.read(4) == b"\x7fELF"
    return paths[0] if is_elf else build(paths[0], board).firmware


def _absolute(word: str) -> str:
    """The absolute path of a file, because tools run in another folder."""
    return str(Path(word).resolve()) if Path(word).is_file() else word


def _done(plan: FlashPlan, order: FlashOrder) -> str:
    if not order.program:
        return "the same"
    return "written and read back" if plan.verifies else "written, not read back"


def _facts(board: str, elf: Path, plan: FlashPlan, status: str) -> dict[str, Any]:
    return {"board": board, "firmware": str(elf), "status": status, **plan.to_json()}
