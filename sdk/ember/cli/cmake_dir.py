"""`ember cmake-dir`: where find_package(ember) and CMake toolchain files look."""

from __future__ import annotations

from typing import Annotated

import typer

from ember import boards, paths
from ember.packaging import cmake_files


def command(
    board: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print the board's CMake toolchain file."),
    ] = None,
    toolchain: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Toolchain to compile with. Default: the board's first.",
        ),
    ] = None,
) -> None:
    if board is None:
        typer.echo(paths.cmake())
    else:
        typer.echo(cmake_files.toolchain(boards.load(board), toolchain), nl=False)
