"""`ember sweep`: programs x boards x options on a cluster; reports of their results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ember import output, writing
from ember.cli.reports import sweeps
from ember.cli.reports import sweeps as sweep_page
from ember.errors import UsageError
from ember.output import plain
from ember.run import testing
from ember.sweep import cluster, history, runs
from ember.sweep.points import Point
from ember.sweep.results import Results, SweepRun, need_parquet, write_parquet
from ember.sweep.runs import Planned, SweepOrder
from ember.sweep.work import PointResult

_REPORT = "report"
_WORDS_OF_REPORT = 2


def command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="SWEEP.yaml | report RESULTS",
            help="What to run; or `report` and a file of results to show.",
        ),
    ],
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="SQLite file of results; what it already has is not run again."
            " Default: SWEEP.sqlite beside SWEEP.yaml.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of Dask's scheduler, such as tcp://host:8786.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Without --scheduler: processes on the host. Default: one per"
            " processor.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name of this run (default: the current time). With `report`: the"
            " run to show.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also run what already has results.")
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Show what differs from this earlier run."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write an HTML page of the results."),
    ] = None,
    parquet_to: Annotated[
        Path | None,
        typer.Option(
            "--parquet", metavar="FILE", help="Also write the results as Parquet."
        ),
    ] = None,
    json_to: output.JsonOption = None,
) -> int:
    console = output.console(json_to)
    clock = testing.Clock()
    if parquet_to is not None:
        need_parquet()
    for path in filter(None, (html, parquet_to)):
        writing.need_file(path)
    if words[0] == _REPORT:
        if scheduler or workers or again or results:
            raise UsageError("a report runs nothing: leave out its options")
        if len(words) != _WORDS_OF_REPORT:
            raise UsageError("ember sweep report takes one file of results")
        held = Results(Path(words[1]), new=False)
        run = held.run(name)
    else:
        path = _file(words)
        plan = runs.planned(path, workers)
        held = Results(results or path.with_suffix(".sqlite"))
        run = _run(plan, held, SweepOrder(name, again, scheduler, workers), console)
        folder = held.path.with_suffix(".mismatches")
        for text in runs.shrunk(plan, held.rows(run), folder, workers):
            console.print(plain(text), soft_wrap=True)
    rows = held.rows(run)
    before = held.rows(held.run(baseline)) if baseline else None
    changes = history.compare(before, rows) if before is not None else None
    sweeps.show(console, run, rows, changes)
    if html is not None:
        sweep_page.write_sweep(html, run, rows, baseline, changes)
    if parquet_to is not None:
        write_parquet(parquet_to, rows)
    output.write_json(sweeps.document(run, rows, changes, clock.seconds), json_to)
    held.close()
    return 0 if all(row.result.status == "passed" for row in rows) else 1


def _file(words: list[str]) -> Path:
    if len(words) != 1:
        raise UsageError(
            "ember sweep takes one SWEEP.yaml",
            hint="`ember sweep report FILE` shows results",
        )
    path = Path(words[0])
    if not path.is_file():
        raise UsageError(f"{path} does not exist", "its least lines: programs, boards")
    cluster.need()
    return path


def _run(plan: Planned, held: Results, asked: SweepOrder, console: Console) -> SweepRun:
    def show(point: Point, result: PointResult) -> None:
        if result.status != "passed":
            where = f"{point.board.name} {plain(point.program)} {point.option.text}"
            console.print(
                f"[red]{result.status:6}[/] {where.strip()}: {plain(result.message)}",
                soft_wrap=True,
            )

    def say(text: str) -> None:
        console.print(plain(text), soft_wrap=True)

    return runs.sweep(plan, held, asked, show, say)
