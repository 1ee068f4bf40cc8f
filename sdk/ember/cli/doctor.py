"""`ember doctor`: what is installed, what is missing, and what installs it."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ember import boards, output
from ember.toolchain import doctor
from ember.toolchain.doctor import Report


def command(
    board: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Check only what this board needs; repeatable."
        ),
    ] = None,
    json_to: output.JsonOption = None,
) -> int:
    names = board or boards.names()
    report = doctor.examine([boards.load(name) for name in names])
    if json_to != "-":
        _show(output.console(), report)
    output.write_json(_facts(report), json_to)
    # Without --board this is a survey: not every computer needs every board.
    return 1 if board and not report.ready else 0


def _show(console: Console, report: Report) -> None:
    table = output.table("needed", "version", "what it does", ">boards")
    for finding in report.findings:
        without = "not there" if finding.optional else "[red]missing[/red]"
        version = finding.version or without
        users = str(len(finding.boards))
        table.add_row(finding.name, version, finding.purpose, users)
    console.print(table)
    ready = [name for name in report.boards if not report.missing_for(name)]
    console.print(f"Python {doctor.python_version()}")
    console.print(f"tested: {', '.join(map(str, report.tested))}")
    for name in report.untested:
        console.print(f"not tested: {name}")
    console.print(f"ready: {', '.join(ready) or 'no board'}")
    for name in report.boards:
        lacking = [finding.name for finding in report.missing_for(name)]
        if lacking:
            console.print(f"not ready: {name} lacks {', '.join(lacking)}")
    for emulator, uncounted in report.uncounted.items():
        console.print(
            f"not counted: {', '.join(uncounted)}, as {emulator} takes no plugins"
        )
    for finding in report.findings:
        if finding.optional and finding.missing:
            console.print(
                f"optional: {finding.name} {finding.purpose}: {finding.install}",
                soft_wrap=True,
            )
    for line in report.install:
        console.print(f"install: {escape(line)}", soft_wrap=True)


def _facts(report: Report) -> dict[str, Any]:
    return {
        "python": doctor.python_version(),
        "ready": report.ready,
        "tools": [
            {
                "name": finding.name,
                "version": finding.version,
                "missing": finding.missing,
                "optional": finding.optional,
                "tested": finding.tested
                and [finding.tested.first, finding.tested.last],
                "purpose": finding.purpose,
                "install": finding.install,
                "boards": list(finding.boards),
            }
            for finding in report.findings
        ],
        "boards": [
            {
                "name": name,
                "ready": not report.missing_for(name),
                "missing": [finding.name for finding in report.missing_for(name)],
            }
            for name in report.boards
        ],
        "install": list(report.install),
    }
