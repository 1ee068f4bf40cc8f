"""A run of a model becomes files that ExecuTorch's Inspector reads: an ETDump, and the
values that its instructions wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ember import boards, writing
from ember.errors import SdkError, UsageError
from ember.firmware import project as projects
from ember.run import once
from ember.toolchain import emulator

if TYPE_CHECKING:
    from ember.hil.line import Line
    from ember.run.counted import CountedRun
    from ember.run.run import RunLog


def _free(path: Path | None) -> Path | None:
    """Refuse what cannot be written before the work whose result it would hold."""
    if path is not None:
        writing.need_file(path)
    return path


DumpOption = Annotated[
    Path | None,
    typer.Option(
        "--etdump",
        metavar="FILE",
        callback=_free,
        help="Also write an ETDump, for ExecuTorch's Inspector.",
    ),
]
ValuesOption = Annotated[
    Path | None,
    typer.Option(
        "--etdump-values",
        metavar="FILE",
        callback=_free,
        help="With --etdump: also write what each instruction wrote (the debug"
        " buffer).",
    ),
]


@dataclass(frozen=True)
class DumpFiles:
    """The files that are asked for."""

    dump: Path | None
    values: Path | None

    def check(self) -> None:
        if self.values is None:
            return
        if self.dump is None:
            raise UsageError("--etdump-values needs --etdump")
        if self.values.resolve() == self.dump.resolve():
            raise UsageError(f"--etdump and --etdump-values both name {self.dump}")

    def check_emulated(self, order: once.Order) -> None:
        """That there will be something to write, before anything is built."""
        if self.dump is None or self.values is not None:
            return
        board = boards.load(projects.load(order.project).board_or(order.board))
        if emulator.unit(board) is None:
            raise SdkError(
                emulator.counts_nothing(board),
                hint="choose a board whose emulator counts, or add --etdump-values"
                " FILE",
            )

    def write_run(self, order: once.Order, log: RunLog) -> None:
        """Of a run on an emulated board."""
        if self.dump is not None:
            from ember.run.etdump import dumped  # most runs want none

            dumped.of_run(order, log, self.dump, self.values)

    def write_counted(self, order: once.Order, run: CountedRun, line: Line) -> None:
        """The same, of a run that a real board counted."""
        if self.dump is not None:
            from ember.run.etdump import dumped

            dumped.of_board(order, run, line, self.dump, self.values)
