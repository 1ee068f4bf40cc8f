"""How figures moved becomes tables, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from ember import output
from ember.output import counted, plain
from ember.run.baseline import COUNTED
from ember.sweep.history import Course, Moment


def show(console: Console, shown: Sequence[Course], courses: Sequence[Course]) -> None:
    """A table a course, a line a run that changed something."""
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
                moment.run.version,
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
    """The first moment, and each that differs from the one before it."""
    kept: list[Moment] = []
    for moment in course.moments:
        if not kept or _facts(kept[-1]) != _facts(moment):
            kept.append(moment)
    return kept


def _facts(moment: Moment) -> list[Any]:
    return [getattr(moment.result, name) for name in ("status", *COUNTED, "outputs")]


def to_json(course: Course) -> dict[str, Any]:
    facts = {"name": course.program, "board": course.board, "options": course.options}
    runs = [
        {"run": moment.run.name, "began": moment.run.began}
        | {"version": moment.run.version, "sdk": moment.run.sdk}
        | {"content": moment.content, "changed": list(changes)}
        | asdict(moment.result)
        for moment, changes in zip(course.moments, course.changes, strict=True)
    ]
    return facts | {"runs": runs}
