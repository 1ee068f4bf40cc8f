"""`ember run`: execute a model once on a board, or on the emulator that stands in."""

from __future__ import annotations

from ember import output
from ember.cli.build import (
    BoardOption,
    DataOption,
    MessagesOption,
    ModelArgument,
    OptimizeOption,
    OutOption,
    PreparedOption,
    StackOption,
    ToolchainOption,
)
from ember.cli.options import KernelsOption, ProjectOption
from ember.cli.reports import runs
from ember.run import once


def command(
    model: ModelArgument = None,
    board: BoardOption = None,
    given: once.InputOption = None,
    method: once.MethodOption = None,
    out: OutOption = None,
    data: DataOption = None,
    messages: MessagesOption = False,
    stack: StackOption = None,
    prepared: PreparedOption = False,
    optimize: OptimizeOption = None,
    toolchain: ToolchainOption = None,
    timeout: once.TimeoutOption = None,
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
        messages=messages,
        stack=stack,
        prepared=prepared,
        optimize=optimize,
        toolchain=toolchain,
        timeout=timeout,
        kernels=kernels or [],
        project=project,
    )
    log, source = once.execute(order)
    if json_to != "-":
        console = output.console()
        if source == "zeros" and log.method.inputs:
            console.print("no inputs given: using zeros")
        runs.show_run(console, log)
    output.write_json(log.to_json() | {"inputs": source}, json_to)
