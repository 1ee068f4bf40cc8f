"""A run becomes the files that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ember import boards, writing
from ember.cycles.estimate import NOT_ESTIMATED
from ember.files import etdump
from ember.firmware import pack
from ember.hil.line import Line
from ember.run import counted, once
from ember.run.counted import CountedRun
from ember.run.etdump import events, intermediate
from ember.run.etdump.events import Executed, Lent
from ember.run.etdump.intermediate import ValueFile
from ember.run.lockstep import Side
from ember.run.run import RunLog
from ember.run.testing import Settings


def of_run(order: once.Order, log: RunLog, dump: Path, values: Path | None) -> None:
    """Write the ETDump, and what each instruction wrote, of a run on an emulated
    board."""
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
    if values is not None:
        captured = _captured(subject, order, None, file)
        executed = replace(
            executed,
            logged=captured.logged,
            outputs=file.outputs(log.method, log.outputs),
        )
        writing.write(values, bytes(file.content))
    _write(executed, dump)


def of_board(
    order: once.Order, run: CountedRun, line: Line, dump: Path, values: Path | None
) -> None:
    """The same, of a run that a real board counted."""
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
    if values is not None:
        captured = _captured(run.subject, order, line, file)
        executed = replace(
            executed,
            logged=captured.logged,
            outputs=file.outputs(method, captured.outputs),
        )
        writing.write(values, bytes(file.content))
    _write(executed, dump)


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


def _write(executed: Executed, dump: Path) -> None:
    writing.write(dump, etdump.to_bytes(etdump.ETDump(tuple(events.runs(executed)))))
