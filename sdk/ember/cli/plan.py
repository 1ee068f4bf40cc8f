"""`ember plan`: where a model's memory lies on a board, or a table of buffers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ember import boards, output
from ember.cli.build import (
    BoardOption,
    MessagesOption,
    ModelArgument,
    OptimizeOption,
    PreparedOption,
    StackOption,
    ToolchainOption,
)
from ember.cli.options import (
    CallerIoOption,
    KernelsOption,
    MethodsOption,
    NoPassOption,
    PassesOption,
    ProjectOption,
    RowsOption,
)
from ember.cli.reports import builds
from ember.errors import SdkError, UsageError
from ember.firmware import project as projects
from ember.firmware.advice import answers, what_if
from ember.firmware.jobs import Options, options_of
from ember.output import counted, plain
from ember.plan import offsets, placements
from ember.plan.offsets import MANY_STEPS
from ember.plan.offsets.buffers import read_csv


def command(
    model: ModelArgument = None,
    board: BoardOption = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Plan these buffers instead of a model: id,lower,upper,size.",
        ),
    ] = None,
    capacity: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES", min=0, help="Bytes that the buffers must fit in."
        ),
    ] = None,
    method: MethodsOption = None,
    caller_io: CallerIoOption = False,
    messages: MessagesOption = False,
    prepared: PreparedOption = False,
    stack: StackOption = None,
    optimize: OptimizeOption = None,
    only_passes: PassesOption = None,
    no_pass: NoPassOption = None,
    rows: RowsOption = None,
    toolchain: ToolchainOption = None,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
    tried: Annotated[
        list[str] | None,
        typer.Option(
            "--what-if",
            metavar="MEMORY=SIZE",
            help="Also plan with another size of a memory and show what a run gains:"
            " tcm=+64K, tcm=-64K or tcm=128K. Repeatable; all sizes apply together.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=output.writable,
            help="Also write a page that draws tensors by time and address.",
        ),
    ] = None,
    json_to: output.JsonOption = None,
) -> int:
    if csv is not None:
        if model is not None or board is not None:
            raise UsageError("give a model or --csv, not both")
        if html is not None:
            raise UsageError("--html needs a model")
        if tried:
            raise UsageError("--what-if needs a model")
        facts = _table(csv, capacity)
    elif capacity is not None:
        raise UsageError(
            "--capacity needs --csv; with a model, the board gives the sizes"
        )
    else:
        plans = projects.load(project, kernels)
        paths = plans.models_or([model] if model else [])
        options = replace(
            options_of(plans, optimize, only_passes, no_pass, rows),
            methods=tuple(method or ()),
            caller_io=caller_io,
            messages=messages,
            prepared=prepared or plans.prepared,
            stack=stack or plans.stack,
            app=plans.app,
            toolchain=toolchain,
        )
        facts = _model(paths, plans.board_or(board), options, tried or ())
        if html is not None:
            names = ", ".join(path.stem for path in paths)
            from ember.cli.reports.pages import plan as page

            output.write_text(page.of(facts, names), html)
    if json_to != "-":
        _show(output.console(), facts)
    output.write_json(facts, json_to)
    return 0 if facts["fits"] and facts.get("resolved", True) else 1


def _model(
    paths: list[Path], board_name: str, options: Options, tried: Sequence[str]
) -> dict[str, Any]:
    board = options.rules.narrowed(boards.load(board_name))
    other = what_if.changed(board, tried)  # what is wrong is told before planning
    facts = answers.of(paths, board, options)
    if tried:
        then = answers.of(paths, other, options)
        facts["what_if"] = what_if.compared(tried, facts, then)
    times = {name: round(facts[name], 3) for name in ("seconds", "pass_seconds")}
    return facts | times


def _table(path: Path, capacity: int | None) -> dict[str, Any]:
    table = read_csv(path)
    buffers = list(table.values())
    started = time.process_time()
    placed = offsets.place(buffers, capacity, MANY_STEPS)
    seconds = time.process_time() - started
    if offsets.overlap(buffers, placed.offsets) is not None:
        raise SdkError(f"the plan for {path} overlaps itself: this is a bug in Ember")
    return {
        "fits": capacity is None or placed.height <= capacity,
        "capacity": capacity,
        "planned": placed.height,
        "lower_bound": placed.lower_bound,
        "proved": placed.proved,
        "offsets": dict(zip(table, placed.offsets, strict=True)),
        "seconds": round(seconds, 3),
    }


def _show(console: Console, facts: dict[str, Any]) -> None:
    if "offsets" in facts:
        _show_table(console, facts)
        return
    builds.show_doubts(console, facts)
    if not facts["fits"]:
        builds.show_refusal(console, facts)
        builds.show_rows(console, facts)
        _show_what_if(console, facts)
        return
    console.print(builds.memory_table(facts["memories"]))
    console.print()
    builds.show_pieces(console, facts)
    console.print()
    used, constants = facts["activations"], facts["constants"]
    console.print(
        f"activations {counted(used['planned'], 'byte')}: at least"
        f" {used['lower_bound']:,}, the program's own plan takes {used['stock']:,}"
    )
    console.print(
        f"constants {counted(constants['bytes'], 'byte')}; {constants['dropped']:,}"
        " unused ones are left out"
    )
    builds.show_work(console, facts["work"])
    placements.show_costs(console, facts.get("traffic", {}), facts["code"]["cycles"])
    builds.show_gains(console, facts["gains"])
    _show_what_if(console, facts)
    placements.show_copies(console, facts.get("copies", ()))
    builds.show_delegates(console, facts)
    builds.show_rows(console, facts)
    builds.show_passes(console, facts.get("passes", ()))
    builds.show_peaks(console, facts)
    for text in facts.get("kept_apart", ()):
        console.print(plain(text))
    for text in facts.get("conflicts", ()):
        console.print(f"[yellow]repaired:[/] {plain(text)}")


def _show_what_if(console: Console, facts: dict[str, Any]) -> None:
    if "what_if" in facts:
        console.print()
        console.print(plain(what_if.summary(facts["what_if"])), soft_wrap=True)


def _show_table(console: Console, facts: dict[str, Any]) -> None:
    rows = output.table("buffer", ">offset")
    for name, offset in facts["offsets"].items():
        rows.add_row(plain(name), f"{offset:,}")
    console.print(rows)
    console.print()
    end = "optimal" if facts["proved"] else "a smaller plan may exist"
    console.print(
        f"{counted(facts['planned'], 'byte')}, lower bound {facts['lower_bound']:,}:"
        f" {end} ({facts['seconds']:.2f} s)"
    )
    if not facts["fits"]:
        over = facts["planned"] - facts["capacity"]
        console.print(f"[red]{counted(over, 'byte')} over the capacity[/]")
