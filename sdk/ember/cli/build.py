"""`ember build`: make firmware of a model for a board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ember import build, output, progress
from ember.boards import Board
from ember.build import project as projects
from ember.build.advice import preparing
from ember.build.jobs import options_of
from ember.cli.options import (
    CallerIoOption,
    KernelsOption,
    NoPassOption,
    PassesOption,
    ProjectOption,
    RowsOption,
)
from ember.cli.options import budget as budgets
from ember.cli.reports import builds
from ember.toolchain import footprint, libraries

_SIZES = ("size", "memory", "footprint", "method_arena")
ModelArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="MODEL", help=".pte, .bpte, or a case folder.", show_default=False
    ),
]
BoardOption = Annotated[
    str | None, typer.Option("--board", metavar="NAME", help="See `ember boards`.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Build folder; default: build/BOARD/MODEL."),
]
DataOption = Annotated[
    list[Path] | None,
    typer.Option("--data", metavar="FILE.ptd", help="External data; repeatable."),
]
MessagesOption = Annotated[
    bool, typer.Option("--messages", help="Keep the runtime's error sentences.")
]
StackOption = Annotated[
    int | None,
    typer.Option(
        metavar="BYTES",
        min=256,
        max=2**31 - 1,
        help="Stack size; default: what the code can need.",
    ),
]
PreparedOption = Annotated[
    bool,
    typer.Option(
        "--prepared",
        help="Prepare nodes at build time: smaller firmware that loads nothing.",
    ),
]
OptimizeOption = Annotated[
    libraries.Optimize | None,
    typer.Option(metavar="size|balanced|speed", help="What to choose kernels for."),
]
AppOption = Annotated[
    Path | None,
    typer.Option("--app", metavar="FILE.c", help="Your main() instead of Ember's."),
]
ToolchainOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Default: the board's first.")
]


def command(
    model: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="MODEL...",
            help=".pte, .bpte, or case folders; several share one firmware.",
            show_default=False,
        ),
    ] = None,
    board: BoardOption = None,
    out: OutOption = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Method to build; repeatable. Default: forward or the only one; all"
            " of several models.",
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
            metavar="FILE", help="Fail if the firmware exceeds this YAML file."
        ),
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    ceilings = budgets.read(budget) if budget else None
    plans = projects.load(project, kernels)
    options = replace(
        options_of(plans, optimize, only_passes, no_pass, rows),
        methods=tuple(method or ()),
        app=app,
        messages=messages,
        prepared=prepared or plans.prepared,
        caller_io=caller_io,
        stack=stack,
        toolchain=toolchain,
    )
    paths = plans.models_or(model or [])
    target = plans.board_or(board)
    built = build.build(paths, target, out=out, data=data or (), options=options)
    note_header(built.board)
    less = _saved_by_preparing(built)
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
            "methods": [entry.name for chosen in built.chosen for entry in chosen],
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


def _saved_by_preparing(built: build.Built) -> preparing.Saved:
    with progress.doing("trying --prepared"):
        return preparing.saved(built)


def note_header(board: Board) -> None:
    """Say that no image of the board starts by itself, if that is so."""
    for told in (board.header_missing, board.header_unsaid):
        if told:
            output.note(*told)
