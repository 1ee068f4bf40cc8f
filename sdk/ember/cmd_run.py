"""`ember run`: execute a model once on a board, or on the emulator that stands in."""

from __future__ import annotations

from typing import Annotated

import typer

from ember import boards, build, inputs, linker, output, report, run
from ember import model as models
from ember import project as projects
from ember.cmd_build import (
    BoardOption,
    DataOption,
    MessagesOption,
    ModelArgument,
    OptimizeOption,
    OutOption,
    StackOption,
    ToolchainOption,
)
from ember.options import KernelsOption, ProjectOption


def command(
    model: ModelArgument = None,
    board: BoardOption = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="FILE.npy",
            help="An input, in order; a number, true, false or null for a scalar.",
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="Not forward, or the only one.")
    ] = None,
    out: OutOption = None,
    data: DataOption = None,
    messages: MessagesOption = False,
    stack: StackOption = linker.DEFAULT_STACK,
    optimize: OptimizeOption = None,
    toolchain: ToolchainOption = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0.1, help="Not the board's.")
    ] = None,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> None:
    plans = projects.load(project, kernels)
    path = plans.model_or(model)
    target = plans.board_or(board)
    case = None if given else inputs.of_case(path, method)
    chosen = method or (case.method if case else None)
    options = build.Options(
        methods=(chosen,) if chosen else (),
        messages=messages,
        stack=stack,
        toolchain=toolchain,
        optimize=optimize or plans.optimize,
        rules=plans.rules,
    )
    # Wrong inputs are told before the first compiler starts.
    boards.load(target)
    wanted = models.read(path, data or ()).method(chosen)
    if case:
        laid_out = inputs.lay_out(wanted, case.given)
    elif given:
        laid_out = inputs.lay_out(wanted, inputs.read(given))
    else:
        laid_out = inputs.zeros(wanted)
    built = build.build(path, target, out=out, data=data or (), options=options)
    log = run.run(built, laid_out, timeout_s=timeout)
    facts = log.to_json() | {
        "inputs": "case" if case else "given" if given else "zeros"
    }
    if json_to != "-":
        console = output.console()
        if not given and not case and wanted.inputs:
            console.print("no inputs given: all are zeros")
        report.show_run(console, log)
    output.write_json(facts, json_to)
