"""A run of a model becomes files that ExecuTorch's Inspector reads: an ETDump, and the
values that its instructions wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ember import boards, writing
from ember.build import pack
from ember.build import project as projects
from ember.cycles.estimate import NOT_ESTIMATED
from ember.errors import SdkError, UsageError
from ember.files import etdump
from ember.hil.line import Line
from ember.run import counted, once
from ember.run.counted import CountedRun
from ember.run.etdump import events, intermediate
from ember.run.etdump.events import Executed, Lent
from ember.run.etdump.intermediate import ValueFile
from ember.run.lockstep import Side
from ember.run.run import RunLog
from ember.run.testing import Settings


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
        help="With --etdump: what each instruction wrote, the debug buffer.",
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
        if board.runner.counts is None:
            raise SdkError(
                f"{board.name} cannot count instructions",
                hint="choose a board with an emulator, or add --etdump-values FILE",
            )


def of_run(files: DumpFiles, order: once.Order, log: RunLog) -> None:
    """Write the files that are asked for, of a run on an emulated board."""
    if files.dump is None:
        return
    subject = once.subject(order)
    executed = Executed(
        method=log.method,
        packed=log.built.packed(log.method.name),
        nodes=log.nodes,
        load=log.load,
        execute=log.execute,
        load_cycles=log.load_cycles,
        execute_cycles=log.execute_cycles,
        test=subject.test,
        allocations=tuple(_allocations(log)),
    )
    file = ValueFile()
    if files.values is not None:
        captured = _captured(subject, order, None, file)
        executed = replace(
            executed,
            logged=captured.logged,
            outputs=file.outputs(log.method, log.outputs),
        )
    _write(files, executed, file)


def of_board(files: DumpFiles, order: once.Order, run: CountedRun, line: Line) -> None:
    """The same, of a run that a real board counted."""
    if files.dump is None:
        return
    method = run.subject.method
    executed = Executed(
        method=method,
        packed=method,
        nodes=run.nodes,
        load=None,
        execute=run.cycles,
        load_cycles=NOT_ESTIMATED,
        execute_cycles=NOT_ESTIMATED,
        test=run.subject.test,
    )
    file = ValueFile()
    if files.values is not None:
        captured = _captured(run.subject, order, line, file)
        executed = replace(
            executed,
            logged=captured.logged,
            outputs=file.outputs(method, captured.outputs),
        )
    _write(files, executed, file)


def _captured(
    subject: once.Subject,
    order: once.Order,
    line: Line | None,
    file: ValueFile,
) -> intermediate.Captured:
    rules = subject.plans.rules
    settings = Settings(
        timeout_s=order.timeout,
        count=False,
        optimize=order.optimize or subject.plans.optimize,
        rules=rules,
        line=line,
    )
    side = Side(rules.narrowed(boards.load(subject.board)), settings)
    return intermediate.capture(counted.case_of(subject), side, file)


def _allocations(log: RunLog) -> Sequence[Lent]:
    """The regions that the plan lends to methods; what was used of them, if known."""
    lent = {region["name"] for region in log.built.plan["regions"]}
    lent |= {pack.rest_of(name) for name in lent}
    allocations = []
    for row in log.built.certificate["rows"]:
        if row["place"] in lent:
            used = log.used.get(row["place"])
            size = row["linked"] if used is None else used
            allocations.append(Lent(f"{row['memory']} {row['purpose']}", size))
    return allocations


def _write(files: DumpFiles, executed: Executed, file: ValueFile) -> None:
    assert files.dump is not None
    dump = etdump.to_bytes(etdump.ETDump(tuple(events.runs(executed))))
    if files.values is not None:
        writing.write(files.values, bytes(file.content))
    writing.write(files.dump, dump)
