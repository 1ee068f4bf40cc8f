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
from ember.cli.options import KernelsOption, ProjectOption
from ember.cli.reports import runs
from ember.run import once, profile


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
    toolchain: ToolchainOption = None,
    timeout: once.TimeoutOption = None,
    cycles: once.CyclesOption = False,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> None:
    order = once.Order(
        model=model,
        board=board,
        given=given or (),
        method=method,
        out=out,
        data=data or (),
        prepared=prepared,
        optimize=optimize,
        toolchain=toolchain,
        timeout=timeout,
        cycles=cycles,
        kernels=kernels or [],
        project=project,
    )
    log, _ = once.execute(order)
    found = profile.of_run(log)
    if json_to != "-":
        runs.show_profile(output.console(), found, top)
    output.write_json(profile.to_json(found), json_to)
