"""`ember history`: how the figures of programs moved between runs of sweeps."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer

from ember import output, writing
from ember.cli.reports import history_table
from ember.cli.reports.pages import history as history_page
from ember.sweep import history
from ember.sweep.results import PointRow


def command(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS...", help="SQLite files of `ember sweep`."),
    ],
    program: Annotated[
        str, typer.Option(metavar="PATTERN", help="Such as 'resnet*'.")
    ] = "*",
    board: Annotated[
        str, typer.Option(metavar="PATTERN", help="Such as 'mps*'.")
    ] = "*",
    every: Annotated[
        bool, typer.Option("--all", help="Also what has never changed.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with plots.")
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    if html is not None:
        writing.need_file(html)

    def wanted(row: PointRow) -> bool:
        return fnmatchcase(row.program, program) and fnmatchcase(row.board, board)

    courses = history.read(results, wanted)
    shown = courses if every else [course for course in courses if course.moves]
    history_table.show(output.console(json_to, columns=100), shown, courses)
    if html is not None:
        history_page.write(html, shown)
    output.write_json(
        {"courses": [history_table.to_json(course) for course in courses]}, json_to
    )
