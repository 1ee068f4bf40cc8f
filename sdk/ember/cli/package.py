"""`ember package`: models as sources, with the manifests of build systems."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ember import boards, output, progress, writing
from ember.cli.build import BoardOption, MessagesOption, OptimizeOption
from ember.cli.options import (
    FolderOption,
    KernelsOption,
    MethodsOption,
    ModelsArgument,
    NoPassOption,
    PassesOption,
    ProjectOption,
    RowsOption,
)
from ember.firmware import project as projects
from ember.firmware.jobs import Options, options_of
from ember.packaging import linux, manifests, sources


def command(
    out: FolderOption,
    model: ModelsArgument = None,
    board: BoardOption = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="KIND",
            help=f"{', '.join(manifests.KINDS)}; repeatable. Default: all.",
        ),
    ] = None,
    method: MethodsOption = None,
    messages: MessagesOption = False,
    optimize: OptimizeOption = None,
    only_passes: PassesOption = None,
    no_pass: NoPassOption = None,
    rows: RowsOption = None,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
) -> None:
    plans = projects.load(project, kernels)
    models = list(model or plans.models)
    wanted = manifests.kinds(kind or (), models=bool(models))
    options = replace(
        options_of(plans, optimize, only_passes, no_pass, rows),
        methods=tuple(method or ()),
        messages=messages,
    )
    if wanted == [manifests.LINUX]:
        _for_linux(models, board or linux.DEFAULT_BOARD, out, options)
        return
    with writing.folder(out, whole=["src"]) as place:
        if models:
            target = plans.rules.narrowed(boards.load(plans.board_or(board)))
            with progress.doing(f"packaging for {target.name}"):
                files = sources.write(models, target, place, options)
        else:
            files = sources.write_headers(place)
        written = manifests.write(place, wanted, files)
    _show(written or [place / sources.RECORD], place, out)


def _for_linux(models: list[Path], board: str, out: Path, options: Options) -> None:
    with (
        writing.folder(out, whole=["include", "lib", "bin", "test"]) as place,
        progress.doing(f"packaging for {board}"),
    ):
        written = linux.write(models, board, place, options)
    _show(written, place, out)


def _show(written: list[Path], place: Path, out: Path) -> None:
    for path in written:
        name = str(out / path.relative_to(place))
        output.console().print(output.plain(name), soft_wrap=True)
