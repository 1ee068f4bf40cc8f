"""`ember profile`: show what each node and each operator of a model costs."""

from __future__ import annotations

from typing import Annotated

import typer

from ember import output
from ember.cli.build import (
    BoardOption,
    DataOption,
    ModelArgument,
    OptimizeOption,
    OutOption,
    PreparedOption,
    ToolchainOption,
)
from ember.cli.options import KernelsOption, ProjectOption, RowsOption
from ember.cli.reports import runs
from ember.cli.test import BaudOption, PortOption
from ember.errors import UsageError
from ember.hil.line import Port
from ember.run import counted, etdump, once, profile


def command(
    model: ModelArgument = None,
    board: BoardOption = None,
    given: once.InputOption = None,
    method: once.MethodOption = None,
    top: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="How many nodes to show, costliest first."
        ),
    ] = 40,
    out: OutOption = None,
    data: DataOption = None,
    prepared: PreparedOption = False,
    optimize: OptimizeOption = None,
    rows: RowsOption = None,
    toolchain: ToolchainOption = None,
    timeout: once.TimeoutOption = None,
    cycles: once.CyclesOption = False,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
    port: PortOption = None,
    baud: BaudOption = None,
    dump: etdump.DumpOption = None,
    values: etdump.ValuesOption = None,
    json_to: output.JsonOption = None,
) -> None:
    files = etdump.DumpFiles(dump, values)
    files.check()
    order = once.Order(
        model=model,
        board=board,
        given=given or (),
        method=method,
        out=out,
        data=data or (),
        prepared=prepared,
        optimize=optimize,
        rows=rows,
        toolchain=toolchain,
        timeout=timeout,
        cycles=cycles,
        kernels=kernels or [],
        project=project,
    )
    if port:
        profiled = _on_board(order, Port(port, baud), files)
    else:
        profiled = _emulated(order, baud, files)
    if json_to != "-":
        runs.show_profile(output.console(), profiled, top)
    output.write_json(profile.to_json(profiled), json_to)


def _emulated(
    order: once.Order, baud: int | None, files: etdump.DumpFiles
) -> profile.Profile:
    if baud is not None:
        raise UsageError("--baud needs --port")
    files.check_emulated(order)
    log, _ = once.execute(order)
    profiled = profile.of_run(log)
    etdump.of_run(files, order, log)
    return profiled


def _on_board(
    order: once.Order, line: Port, files: etdump.DumpFiles
) -> profile.Profile:
    """Cycles of the board's own counter. Its runner and its kernels are there already,
    so what chooses them is refused."""
    chosen = {
        "--cycles": order.cycles,
        "--out": order.out,
        "--prepared": order.prepared,
        "--optimize": order.optimize,
        "--rows": order.rows,
        "--toolchain": order.toolchain,
    }
    for option, value in chosen.items():
        if value:
            raise UsageError(
                f"{option} and --port: the board has its firmware already",
                hint=f"leave out {option}",
            )
    run = counted.on_line(order, line)
    etdump.of_board(files, order, run, line)
    return run.profile()
