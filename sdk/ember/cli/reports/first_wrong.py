"""What `ember debug` found becomes what a person reads."""

from __future__ import annotations

from rich.console import Console

from ember.output import plain
from ember.run import debugging
from ember.run.debugging import DebugReport
from ember.run.first_wrong import Wrong
from ember.run.lockstep import operator


def show(console: Console, report: DebugReport) -> None:
    for line in lines(report):
        console.print(plain(line), soft_wrap=True)


def lines(report: DebugReport) -> list[str]:
    return [*_lines(report), *_judged(report)]


def _judged(report: DebugReport) -> list[str]:
    if report.judged is None:
        return []
    known, every = report.judged
    if known == every:
        return []
    return [f"  PyTorch judged {known} of {every} calls, Ember's kernels the others"]


def _lines(report: DebugReport) -> list[str]:
    both = f"{report.board} and {report.against}"
    if report.first is not None:
        return _wrong(report.first, report)
    agree = f"{report.case}: every node agrees on {both}"
    if report.problem is None:
        return [f"{agree}, and the outputs are those of the case"]
    return [
        f"{agree}, but {report.problem}",
        "  The program itself gives other outputs than the case expects, or small",
        "  differences of many nodes add up.",
    ]


def _wrong(wrong: Wrong, report: DebugReport) -> list[str]:
    method, difference = wrong.method, wrong.difference
    name = debugging.name_of(wrong)
    where = f"{method.name}, instruction {wrong.instruction} ({name})"
    if wrong.inside is not None:
        where += f", its node {wrong.inside}"
    if wrong.execution:
        where += f", execution {wrong.execution + 1}"
    if wrong.run:
        where += f", run {wrong.run}"
    said = [
        f"{report.case}: the first wrong node on {report.board}, against"
        f" {report.against}:",
        f"  {where}",
        f"  kernel   {report.kernel or 'chosen while it runs'}",
        f"  tensor   {_tensor(wrong)}",
        f"           {difference.text}",
    ]
    if wrong.read_by is not None:
        reader = wrong.read_by
        reads = "which is an output of the method"
        if reader < len(method.instructions):
            reads = f"which instruction {reader} ({operator(method, reader)}) reads"
        said.append(f"  It overwrites this tensor, {reads}.")
    frame = debugging.source_of(method, wrong.instruction)
    if frame is not None:
        said.append(f"  source   {frame.filename}:{frame.line}, in {frame.name}")
    said.append(f"  inputs   {_inputs(wrong)}")
    return said


def _tensor(wrong: Wrong) -> str:
    if wrong.inside is not None:
        return "inside the delegate"
    if wrong.value is None:
        return "none: the board ended here"
    return f"value {wrong.value}, {wrong.method.values[wrong.value]}"


def _inputs(wrong: Wrong) -> str:
    if not wrong.inputs:
        return "right, to the tolerance: the fault is in this node"
    values = ", ".join(f"value {off.value}" for off in wrong.inputs)
    return f"already off: {values}; of these inputs, too, the result is wrong"
