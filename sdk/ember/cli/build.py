"""`ember build`: make firmware of a model for a board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import Field, ValidationError

from ember import files, output, progress, writing
from ember import kernels as kernel_lists
from ember.boards import Board, keys
from ember.boards.keys import Size, Strict
from ember.cli.options import (
    CallerIoOption,
    KernelsOption,
    NoPassOption,
    PassesOption,
    ProjectOption,
    RowsOption,
    board_names,
)
from ember.cli.reports import builds
from ember.errors import SdkError, problem_list
from ember.firmware import Built, build
from ember.firmware import project as projects
from ember.firmware.advice import preparing
from ember.firmware.jobs import options_of
from ember.plan.check import dim_orders
from ember.toolchain import footprint, libraries

# ---- --budget: a YAML file becomes ceilings for the firmware -------------------------
#
# work: 12M                     # steps of one execution; M stands for 1,048,576
# total: 20K                    # code, constants and initial values
# ram: 64K                      # data, bss, arena and stack
# libraries: {core: 9K, kernels: 6000}
# operators: {"aten::add.out": 300}


Ceilings = Annotated[dict[str, Size], Field(default_factory=dict)]


class Budget(Strict):
    """Ceilings in bytes, and in steps; what is not named has none."""

    total: Size | None = None
    ram: Size | None = None
    work: Size | None = None
    libraries: Ceilings
    operators: Ceilings


def _read_budget(path: Path) -> Budget:
    data = files.read_yaml(path, "the budget")
    try:
        return Budget.model_validate(data or {})
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc']))}: {_problem(problem)}"
            for problem in error.errors()
        ]
        raise SdkError(problem_list(f"{path} is wrong", problems)) from None


def _problem(problem: Any) -> str:
    if problem["type"] == "extra_forbidden":
        return keys.unknown_key(Budget, problem["loc"])
    return str(problem["msg"])


_SIZES = ("size", "memory", "footprint", "method_arena")
ModelArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="MODEL",
        help="A .pte or .bpte file, or a case folder.",
        show_default=False,
    ),
]
BoardOption = Annotated[
    str | None,
    typer.Option(
        "--board",
        metavar="NAME",
        help="Target board; see `ember boards`.",
        autocompletion=board_names,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Build folder. Default: build/BOARD/MODEL."),
]
DataOption = Annotated[
    list[Path] | None,
    typer.Option("--data", metavar="FILE.ptd", help="External data; repeatable."),
]
MessagesOption = Annotated[
    bool,
    typer.Option(
        "--messages", help="Keep the runtime's error messages in the firmware."
    ),
]
StackOption = Annotated[
    int | None,
    typer.Option(
        metavar="BYTES",
        min=projects.STACK_SIZES.start,
        max=projects.STACK_SIZES[-1],
        help="Stack size. Default: the most that the code can need.",
    ),
]
PreparedOption = Annotated[
    bool,
    typer.Option(
        "--prepared",
        help="Prepare nodes at build time: the firmware is smaller and loads nothing.",
    ),
]
OptimizeOption = Annotated[
    libraries.Optimize | None,
    typer.Option(
        metavar="size|balanced|speed",
        help="Prefer small kernels, fast ones, or a balance of both.",
    ),
]
AppOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--app",
        metavar="FILE.c",
        help="Your main() instead of Ember's: a file or a folder of them; repeatable.",
    ),
]
ToolchainOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Toolchain to compile with. Default: the board's first."
    ),
]


def _writable(file: Path | None) -> Path | None:
    if file is not None:
        writing.need_file(file)
    return file


SbomOption = Annotated[
    Path | None,
    typer.Option(
        "--sbom",
        metavar="FILE.json",
        callback=_writable,
        help="Also write a bill of materials of the firmware, with hashes (CycloneDX"
        " 1.6).",
    ),
]


def command(
    model: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="MODEL...",
            help=".pte or .bpte files, or case folders; several share one firmware.",
            show_default=False,
        ),
    ] = None,
    board: BoardOption = None,
    out: OutOption = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Method to build; repeatable. Default: forward, or the only method;"
            " with several models, every method.",
        ),
    ] = None,
    data: DataOption = None,
    app: AppOption = None,
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
    budget: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Fail if the firmware exceeds the limits in this YAML file.",
        ),
    ] = None,
    sbom: SbomOption = None,
    json_to: output.JsonOption = None,
) -> None:
    ceilings = _read_budget(budget) if budget else None
    plans = projects.load(project, kernels)
    options = replace(
        options_of(plans, optimize, only_passes, no_pass, rows),
        methods=tuple(method or ()),
        app=plans.app_or(app),
        messages=messages,
        prepared=prepared or plans.prepared,
        caller_io=caller_io,
        stack=stack or plans.stack,
        toolchain=toolchain,
    )
    paths = plans.models_or(model or [])
    target = plans.board_or(board)
    built = build(paths, target, out=out, data=data or (), options=options)
    note_header(built.board)
    for part in built.models:
        dim_orders.warn(part.name, part.program, kernel_lists.load)
    less = _saved_by_preparing(built)
    if sbom is not None:
        _write_sbom(built, sbom)
    if json_to != "-":
        console = output.console()
        builds.show_build(console, built)
        if less:
            console.print(preparing.text(less))
        for path in (built.firmware, *built.images):
            console.print(f"  {output.plain(str(path))}", soft_wrap=True)
    output.write_json(
        {
            "board": built.board.name,
            "model": built.name,
            "models": [part.name for part in built.models],
            "methods": [
                entry.name for methods in built.all_methods for entry in methods
            ],
            "firmware": str(built.firmware),
            "images": [str(path) for path in built.images],
            **{key: built.sizes[key] for key in _SIZES},
            "certificate": built.certificate,
            "prepared_saves": less,
        },
        json_to,
    )
    if budget and ceilings:
        facts = ceilings.model_dump(exclude_none=True)
        footprint.check(budget, facts, built.sizes)


def _saved_by_preparing(built: Built) -> preparing.Saved:
    with progress.doing("trying --prepared"):
        return preparing.saved(built)


def _write_sbom(built: Built, file: Path) -> None:
    from ember.release import sbom  # most builds want none

    output.write_json(sbom.of_firmware(built), str(file))


def note_header(board: Board) -> None:
    """Say that no image of the board starts by itself, if that is so."""
    for told in (board.header_missing, board.header_unsaid):
        if told:
            output.note(*told)
