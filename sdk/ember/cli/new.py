"""`ember new`: start a project that builds at once."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ember import output
from ember.packaging import new


def command(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Folder of the project: new, or empty."),
    ],
    template: Annotated[
        str, typer.Option(metavar="|".join(new.TEMPLATES), help="Build system.")
    ] = "cmake",
    board: Annotated[
        str, typer.Option(metavar="NAME", help="Target board; see `ember boards`.")
    ] = new.DEFAULT_BOARD,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A .pte or .bpte file. Default: a small example."
        ),
    ] = None,
) -> None:
    words = new.create(folder, template, board, model)
    console = output.console()
    console.print(f"{output.plain(str(folder))} is ready. To build it:")
    for line in (f"cd {shlex.quote(str(folder))}", *words):
        console.print(f"  {output.plain(line)}", soft_wrap=True)
