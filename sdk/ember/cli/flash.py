"""`ember flash`: write firmware to a board, read it back, start it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ember import boards, build, cases, files, output
from ember.boards import Board
from ember.build import runner
from ember.cli.test import BaudOption
from ember.errors import SdkError, UsageError
from ember.flash import blocks, flashers, monitor, perform
from ember.flash.plans import FlashOrder, FlashPlan


def command(
    board: Annotated[
        str, typer.Option(metavar="NAME", help="See `ember boards`; or a .yaml file.")
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
        typer.Option(metavar="ID", help="Which of several; see `ember probes`."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="TOOL", help="Default: the board's first flasher."),
    ] = None,
    with_runner: Annotated[
        bool,
        typer.Option(
            "--runner",
            help="The firmware for `ember test --port`, with every kernel, or those"
            " that the given cases need.",
        ),
    ] = False,
    verify_only: Annotated[
        bool, typer.Option("--verify-only", help="Compare, write nothing.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show files and command lines.")
    ] = False,
    show_console: Annotated[
        bool,
        typer.Option("--monitor", help="Then show its serial output until it ends."),
    ] = False,
    port: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Serial port for --monitor: /dev/ttyACM0, socket://host:port",
        ),
    ] = None,
    baud: BaudOption = None,
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
    target = boards.load(board)
    if target.header_missing:
        raise SdkError(*target.header_missing)
    if target.header_unsaid:
        output.note(*target.header_unsaid)
    facts = target.flasher(method)
    elf = _firmware(firmware or [], target, board, with_runner)
    image = blocks.read(elf, target)
    extra = tuple(_absolute(word) for word in tool_arg or ())
    order = FlashOrder(target, image, probe, not verify_only, extra)
    plan = flashers.plan(order, facts)
    console = output.console(json_to)
    if dry_run:
        for line in plan.lines() if json_to != "-" else ():
            console.print(escape(line), soft_wrap=True)
        output.write_json(_facts(target.name, elf, plan, "planned"), json_to)
        return 0
    perform.need(facts, probe)
    # Open before the board starts, so that nothing it says is lost.
    opened = monitor.connect(target, port, baud) if show_console else None
    perform.run(plan, facts, console.print, probe, timeout)
    console.print(f"{target.name}: {image.size} bytes {_done(plan, order)}; it runs")
    output.write_json(_facts(target.name, elf, plan, "done"), json_to)
    return monitor.show(opened, console.file) if opened else 0


def _firmware(paths: list[Path], target: Board, board: str, with_runner: bool) -> Path:
    """The ELF file that is given, or the one that is built of what is given."""
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
    return paths[0] if is_elf else build.build(paths[0], board).firmware


def _absolute(word: str) -> str:
    """A file by its whole path: tools run in a folder of their own."""
    return str(Path(word).resolve()) if Path(word).is_file() else word


def _done(plan: FlashPlan, order: FlashOrder) -> str:
    if not order.program:
        return "the same"
    return "written and read back" if plan.verifies else "written, not read back"


def _facts(board: str, elf: Path, plan: FlashPlan, status: str) -> dict[str, Any]:
    return {"board": board, "firmware": str(elf), "status": status, **plan.to_json()}
