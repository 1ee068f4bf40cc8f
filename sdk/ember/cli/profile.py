"""`ember profile`: show what each node and each operator of a model costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ember import model as models
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
from ember.run.costs import Step

TraceOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=output.writable,
        help="Also write a trace that Perfetto (ui.perfetto.dev) opens.",
    ),
]
ModelExplorerOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=output.writable,
        help="Also write node data that Model Explorer draws on the program's graph.",
    ),
]
HtmlOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        callback=output.writable,
        help="Also write a page: nodes, operators, roofline, memory, code.",
    ),
]


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
    trace: TraceOption = None,
    model_explorer: ModelExplorerOption = None,
    html: HtmlOption = None,
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
    steps: tuple[Step, ...] = ()
    if port:
        profiled = _on_board(order, Port(port, baud), files)
    else:
        detailed = (trace, model_explorer, html, json_to) != (None,) * 4
        profiled, steps = _emulated(order, baud, files, detailed)
    if trace is not None:
        from ember.run.views import timeline

        output.write_json(timeline.trace(profiled, steps), str(trace))
    if model_explorer is not None:
        output.write_json(_node_data(order, profiled), str(model_explorer))
    if html is not None:
        from ember.cli.reports.pages import profile as page

        output.write_text(page.of(profile.to_json(profiled)), html)
    if json_to != "-":
        runs.show_profile(output.console(), profiled, top)
    output.write_json(profile.to_json(profiled), json_to)


def _emulated(
    order: once.Order, baud: int | None, files: etdump.DumpFiles, detailed: bool
) -> tuple[profile.Profile, tuple[Step, ...]]:
    if baud is not None:
        raise UsageError("--baud needs --port")
    files.check_emulated(order)
    log, _ = once.execute(order)
    profiled = profile.of_run(log)
    files.write_run(order, log)
    if detailed:
        from ember.run.views import details

        profiled = details.of_build(profiled, log.built, log.method.name)
    return profiled, log.steps


def _node_data(order: once.Order, profiled: profile.Profile) -> dict[str, Any]:
    """The costs of the method as the file has it, by the node names of viewers."""
    from ember.run.views import timeline

    subject = once.subject(order)
    assert profiled.details is not None
    origins = profiled.details["origins"]
    path = subject.path
    file = models.program_in(path) if path.is_dir() else path
    return timeline.node_data(profiled, subject.method, origins, file.name)


def _on_board(
    order: once.Order, line: Port, files: etdump.DumpFiles
) -> profile.Profile:
    """Cycles counted by the board itself. Its runner has its kernels already, so
    options that choose kernels are refused."""
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
    files.write_counted(order, run, line)
    return run.profile()
