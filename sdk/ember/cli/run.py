"""`ember run`: execute a model once, an application, or an ELF on an emulated board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ember import output
from ember.cli.build import (
    AppOption,
    BoardOption,
    DataOption,
    MessagesOption,
    OptimizeOption,
    OutOption,
    PreparedOption,
    StackOption,
    ToolchainOption,
)
from ember.cli.options import KernelsOption, ProjectOption, RowsOption
from ember.cli.reports import runs
from ember.errors import UsageError
from ember.firmware import project as projects
from ember.run import application, etdump, once

SubjectArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="MODEL|FILE.elf",
        help="A .pte or .bpte file, a case folder, or linked firmware, which runs"
        " unchanged.",
        show_default=False,
    ),
]
DetailsOption = Annotated[
    bool,
    typer.Option(
        "--details", help="Also show sections, memories, code, passes and nodes."
    ),
]


def command(
    model: SubjectArgument = None,
    board: BoardOption = None,
    app: AppOption = None,
    given: once.InputOption = None,
    method: once.MethodOption = None,
    out: OutOption = None,
    data: DataOption = None,
    messages: MessagesOption = False,
    stack: StackOption = None,
    prepared: PreparedOption = False,
    optimize: OptimizeOption = None,
    rows: RowsOption = None,
    toolchain: ToolchainOption = None,
    timeout: once.TimeoutOption = None,
    budget: once.BudgetOption = None,
    cycles: once.CyclesOption = False,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
    dump: etdump.DumpOption = None,
    values: etdump.ValuesOption = None,
    details: DetailsOption = False,
    json_to: output.JsonOption = None,
) -> int:
    files = etdump.DumpFiles(dump, values)
    files.check()
    is_elf = model is not None and application.is_elf(model)
    # What only Ember's main() does; it goes before the project's application.
    ours = {"--input": given, "--budget": budget, "--cycles": cycles, "--etdump": dump}
    asked = [option for option, value in ours.items() if value]
    code = None
    if app or not (asked or is_elf):
        code = projects.load(project, kernels).app_or(app)
    order = once.Order(
        model=model,
        board=board,
        app=code,
        given=given or (),
        method=method,
        out=out,
        data=data or (),
        messages=messages,
        stack=stack,
        prepared=prepared,
        optimize=optimize,
        rows=rows,
        toolchain=toolchain,
        timeout=timeout,
        budget=budget,
        cycles=cycles,
        kernels=kernels or [],
        project=project,
    )
    if code is not None or is_elf:
        if dump is not None:
            raise UsageError(
                "--etdump is for models that Ember's own main() runs",
                hint="leave out --etdump",
            )
        if code is not None and asked:
            raise UsageError(
                f"{asked[0]} is for Ember's main(), which --app replaces",
                hint="the application reads its console: ember_port_read_line()",
            )
        return _attended(order, json_to)
    files.check_emulated(order)
    log, source = once.execute(order)
    files.write_run(order, log)
    if json_to != "-":
        console = output.console()
        if source == "zeros" and log.method.inputs:
            console.print("no inputs given: using zeros")
        runs.show_run(console, log, details=details)
    output.write_json(log.to_json() | {"inputs": source}, json_to)
    return 0


def _attended(order: once.Order, json_to: str | None) -> int:
    """Runs with our console attached; the exit status of the program."""
    if order.app is None:
        assert order.model is not None
        _refuse_options_of_models(order)
        plans = projects.load(order.project)
        board, firmware = application.of_elf(order.model, plans.board_or(order.board))
    else:
        board, firmware = application.of_app(order)
    to = output.console(json_to).file
    ended = application.run(board, firmware, to, order.timeout)
    output.write_json(
        {
            "board": board.name,
            "firmware": str(firmware),
            "status": ended.exit_code,
            "seconds": round(ended.seconds, 3),
        },
        json_to,
    )
    return ended.exit_code or 0


def _refuse_options_of_models(order: once.Order) -> None:
    given = {
        "--input": order.given,
        "--budget": order.budget,
        "--method": order.method,
        "--out": order.out,
        "--data": order.data,
        "--messages": order.messages,
        "--stack": order.stack,
        "--prepared": order.prepared,
        "--optimize": order.optimize,
        "--rows": order.rows,
        "--toolchain": order.toolchain,
        "--cycles": order.cycles,
        "--kernels": order.kernels,
    }
    for option, value in given.items():
        if value:
            raise UsageError(
                f"{option} is for models: {order.model} runs as it is",
                hint=f"leave out {option}",
            )
