"""`ember flash`: write firmware to a board, read it back, start it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ember import boards, build, output
from ember.errors import SdkError
from ember.flash import blocks, flashers, perform, probes, programs
from ember.flash.plans import Order, Plan


def command(
    firmware: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL|ELF",
            help="A firmware.elf, or a model that is built first.",
            show_default=False,
        ),
    ],
    board: Annotated[
        str, typer.Option(metavar="NAME", help="See `ember boards`, or its .yaml file.")
    ],
    probe: Annotated[
        str | None,
        typer.Option(metavar="ID", help="One of several; see `ember probes`."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="TOOL", help="Not the board's first flasher."),
    ] = None,
    verify_only: Annotated[
        bool, typer.Option("--verify-only", help="Compare, and write nothing.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show files and command lines only.")
    ] = False,
    tool_arg: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="A word for the tool itself; repeatable."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=1, help="What one step may take."),
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    target = boards.load(board)
    facts = target.flasher(method)
    elf = _firmware(firmware, board)
    image = blocks.read(elf, target)
    order = Order(target, image, probe, not verify_only, tuple(tool_arg or ()))
    plan = flashers.plan(order, facts)
    console = output.console(json_to)
    if dry_run:
        for line in plan.lines() if json_to != "-" else ():
            console.print(escape(line), soft_wrap=True)
        output.write_json(_facts(target.name, elf, plan, "planned"), json_to)
        return
    if facts.tool in programs.PROGRAMS:
        programs.path(facts.tool)
    probes.need_one(facts.tool, probe)
    say = lambda what: console.print(f"{plan.tool}: {what}")  # noqa: E731
    perform.run(plan, facts, say, probe, timeout)
    done = "written and read back" if plan.verifies else "written, not read back"
    done = "the same" if verify_only else done
    console.print(f"{target.name}: {image.size} bytes {done}; it runs")
    output.write_json(_facts(target.name, elf, plan, "done"), json_to)


def _firmware(path: Path, board: str) -> Path:
    """The ELF file that `path` is, or the one that is built of it."""
    try:
        with path.open("rb") as file:
            is_elf = file.read(4) == b"\x7fELF"
    except IsADirectoryError:
        is_elf = False
    except OSError as error:
        raise SdkError(f"cannot read {path}: {error.strerror}") from error
    return path if is_elf else build.build(path, board).firmware


def _facts(board: str, elf: Path, plan: Plan, status: str) -> dict[str, Any]:
    return {"board": board, "firmware": str(elf), "status": status, **plan.to_json()}
