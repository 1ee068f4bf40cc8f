"""`ember new`: start a project that builds at once."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ember import output
from ember.packaging import new


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New, or empty.")],
    template: Annotated[
        str, typer.Option(metavar="|".join(new.TEMPLATES), help="What builds it.")
    ] = "cmake",
    board: Annotated[
        str, typer.Option(metavar="NAME", help="See `ember boards`.")
    ] = new.DEFAULT_BOARD,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A .pte or .bpte; a small example when not said."
        ),
    ] = None,
) -> None:
    words = new.create(folder, template, board, model)
    console = output.console()
    console.print(f"{output.plain(str(folder))} is made. To build it:")
    for line in (f"cd {shlex.quote(str(folder))}", *words):
        console.print(f"  {output.plain(line)}", soft_wrap=True)
