"""Options of `ember test` for a baseline become a check of its figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ember import output, writing
from ember.cli.reports import tests
from ember.errors import UsageError
from ember.firmware import Options
from ember.output import counted, plain
from ember.run import baseline
from ember.run.baseline import FigureChange, Regressions
from ember.run.testing import Outcome

PANEL = "Baselines and reports"  # of the help

BaselineOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Fail if a case needs more instructions, cycles, RAM or flash than FILE"
        " states, or gives other bits. A missing FILE is created.",
        rich_help_panel=PANEL,
    ),
]
UpdateOption = Annotated[
    bool,
    typer.Option(
        "--update-baseline",
        help="Store the measured figures in the file of --baseline.",
        rich_help_panel=PANEL,
    ),
]
AllowOption = Annotated[
    float | None,
    typer.Option(
        "--allow",
        metavar="PERCENT",
        min=0,
        help="Growth of a figure that is accepted. Default: 0.",
        rich_help_panel=PANEL,
    ),
]


class Check:
    """Compares the figures of passed cases with a file; does nothing without one."""

    def __init__(
        self, path: Path | None, *, update: bool, allow: float | None, emulated: bool
    ) -> None:
        """emulated -- the cases run in emulators, built as the user's programs are"""
        if path is None and (update or allow is not None):
            word = "--update-baseline" if update else "--allow"
            raise UsageError(f"{word} needs --baseline FILE")
        if path is not None and not emulated:
            raise UsageError(
                "--baseline measures firmware of its own in emulators",
                hint="leave out --port, --ssh, --transport and --poison",
            )
        self._path = path
        self._stores = path is not None and (update or not path.exists())
        self._old: baseline.Baseline = {}
        if path is not None:
            writing.need_file(path)
            self._old = baseline.read(path) if path.exists() else {}
        stored = {} if self._stores else self._old
        self._regressions = Regressions(stored, (allow or 0) / 100)

    def results(
        self,
        results: Sequence[Outcome],
        options: Options,
        timeout_s: float | None,
    ) -> list[Outcome]:
        """The same results, failed where figures got worse."""
        if self._path is None:
            return list(results)
        return self._regressions.check(results, options, timeout_s)

    def store(self) -> None:
        if self._path is None or not self._stores or self._regressions.unmeasured:
            return
        joined = baseline.joined(self._old, self._regressions.measured)
        text = json.dumps(baseline.document(joined), indent=1)
        output.write_text(f"{text}\n", self._path)

    def show(self, console: Console) -> None:
        if self._path is None:
            return
        regressions, file = self._regressions, plain(str(self._path))
        if self._stores and regressions.unmeasured:
            missing = counted(regressions.unmeasured, "case")
            console.print(
                f"{file} is not written: {missing} could not be measured",
                soft_wrap=True,
            )
            return
        if self._stores:
            count = sum(map(len, regressions.measured.values()))
            console.print(f"stored {counted(count, 'case')} in {file}", soft_wrap=True)
            return
        for change in regressions.changes:
            if change.after < change.before:
                console.print(_better(change), soft_wrap=True)
        if regressions.unknown:
            unknown = counted(len(regressions.unknown), "case")
            console.print(
                f"{unknown} not in {file}: --update-baseline stores what is new",
                soft_wrap=True,
            )

    def write_summary(self, results: Sequence[Outcome], path: Path | None) -> None:
        if path is not None:
            tests.write_summary(
                results, self._regressions.changes, self._regressions.measured, path
            )

    def to_json(self) -> dict[str, object]:
        """The additional part of `ember test --json`."""
        return {} if self._path is None else {"baseline": self._regressions.to_json()}


def _better(change: FigureChange) -> str:
    return f"[green]less  [/] {change.board} {plain(change.case)}: {change.text}"
