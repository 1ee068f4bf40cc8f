"""`ember history`: how the figures of programs moved between runs of sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ember import output, writing
from ember.cli.reports import sweeps as history_page
from ember.output import counted, plain
from ember.run.baseline import COUNTED
from ember.sweep import history
from ember.sweep.history import Course, Moment
from ember.sweep.results import PointRow


def command(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS...", help="SQLite files of `ember sweep`."),
    ],
    program: Annotated[
        str,
        typer.Option(metavar="PATTERN", help="Show only programs whose names match."),
    ] = "*",
    board: Annotated[
        str, typer.Option(metavar="PATTERN", help="Show only boards whose names match.")
    ] = "*",
    every: Annotated[
        bool, typer.Option("--all", help="Also show cases that have never changed.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write an HTML page with plots."),
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    if html is not None:
        writing.need_file(html)

    def wanted(row: PointRow) -> bool:
        return fnmatchcase(row.program, program) and fnmatchcase(row.board, board)

    courses = history.read(results, wanted)
    shown = courses if every else [course for course in courses if course.moves]
    _show(output.console(json_to, columns=100), shown, courses)
    if html is not None:
        history_page.write_history(html, shown)
    output.write_json({"courses": [_to_json(course) for course in courses]}, json_to)


# ---- tables and JSON -----------------------------------------------------------------


def _show(console: Console, shown: Sequence[Course], courses: Sequence[Course]) -> None:
    """Shows a table per case, with a line for each run that changed something."""
    for course in shown:
        title = " ".join(filter(None, (course.program, course.board, course.options)))
        columns = (f">{name}" for name in COUNTED)
        names = ("run", "Ember", "changed", "")
        table = output.table(*names, *columns, title=plain(title))
        lines = steps(course)
        for before, moment in zip([None, *lines], lines, strict=False):
            figures = (getattr(moment.result, name) for name in COUNTED)
            table.add_row(
                plain(moment.run.name),
                plain(moment.run.version),
                ", ".join(moment.changes(before)) if before else "",
                moment.result.status,
                *("" if figure is None else f"{figure:,}" for figure in figures),
            )
        console.print(table)
        console.print()
    runs = len({moment.run for course in courses for moment in course.moments})
    still = len(courses) - len(shown)
    said = f"{counted(runs, 'run')}, {counted(len(courses), 'case')} with board"
    console.print(f"{said}; {still:,} of them never changed (--all)" if still else said)


def steps(course: Course) -> list[Moment]:
    """The first moment, and each one that differs from its predecessor."""
    kept: list[Moment] = []
    for moment in course.moments:
        if not kept or _facts(kept[-1]) != _facts(moment):
            kept.append(moment)
    return kept


def _facts(moment: Moment) -> list[Any]:
    return [getattr(moment.result, name) for name in ("status", *COUNTED, "outputs")]


def _to_json(course: Course) -> dict[str, Any]:
    facts = {"name": course.program, "board": course.board, "options": course.options}
    runs = [
        {"run": moment.run.name, "began": moment.run.began}
        | {"version": moment.run.version, "sdk": moment.run.sdk}
        | {"content": moment.content, "changed": list(changes)}
        | asdict(moment.result)
        for moment, changes in zip(course.moments, course.changes, strict=True)
    ]
    return facts | {"runs": runs}
