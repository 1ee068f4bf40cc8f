"""`ember debug`: name the first node of a case that differs from a reference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ember import boards, cases, output
from ember.cases import Case
from ember.cli.build import OptimizeOption
from ember.cli.options import KernelsOption, PassesOption, ProjectOption
from ember.cli.test import BaudOption, PortOption, SshOption, Transport, line_of
from ember.errors import UsageError
from ember.firmware import project as projects
from ember.firmware.project import Project
from ember.output import plain
from ember.plan import passes
from ember.program import names
from ember.run import debugging
from ember.run.debugging import DebugOrder, DebugReport
from ember.run.first_wrong import Tolerance, Wrong
from ember.run.lockstep import operator

_PYTORCH = "pytorch"
AgainstOption = Annotated[
    str,
    typer.Option(
        "--against",
        metavar="host|pytorch|BOARD",
        help="The reference: Ember's kernels on the host or on another board, or"
        " PyTorch.",
    ),
]


def command(
    path: Annotated[
        Path, typer.Argument(metavar="CASE", help="A case folder, or a .bpte.")
    ],
    board: Annotated[
        str,
        typer.Option(
            "--board", metavar="NAME", help="Target board; see `ember boards`."
        ),
    ],
    against: AgainstOption = "host",
    packed: Annotated[
        bool,
        typer.Option(
            "--packed",
            help="Debug the program as `ember build` packs it for the board.",
        ),
    ] = False,
    only_passes: PassesOption = None,
    rtol: Annotated[
        float | None,
        typer.Option(min=0.0, help="Relative tolerance of floats. Default: 1e-4."),
    ] = None,
    atol: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Absolute tolerance. Default: 1e-5 of the largest number of a node.",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.1, help="Time limit of one execution."),
    ] = None,
    optimize: OptimizeOption = None,
    port: PortOption = None,
    baud: BaudOption = None,
    ssh: SshOption = None,
    transport: Annotated[
        Transport,
        typer.Option(
            help="How cases reach the emulator: as files, or through its serial"
            " port (uart)."
        ),
    ] = Transport.files,
    own_kernels: KernelsOption = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> int:
    if only_passes is not None and not packed:
        raise UsageError("--passes needs --packed")
    plans = projects.load(project, own_kernels)
    subject = plans.rules.narrowed(boards.load(board))
    case = _case(path)
    report = debugging.debug(
        DebugOrder(
            case=case,
            board=subject,
            against=boards.load("host" if against == _PYTORCH else against),
            rules=plans.rules,
            tolerance=Tolerance(rtol, atol),
            passes=_passes(plans, only_passes) if packed else None,
            optimize=optimize or plans.optimize,
            timeout_s=timeout,
            line=line_of(port, baud, ssh, transport, [subject]),
            pytorch=against == _PYTORCH,
        )
    )
    if json_to != "-":
        _show(output.console(), report)
    output.write_json(report.to_json(), json_to)
    return 0 if report.first is None and report.problem is None else 1


def _case(path: Path) -> Case:
    known = cases.find([path])
    if len(known) > 1:
        raise UsageError(
            f"{path} has {len(known)} cases", hint=f"give one, such as {known[0].path}"
        )
    return cases.read(known[0])


def _passes(plans: Project, only: str | None) -> tuple[str, ...]:
    if only is None:
        return plans.passes
    return passes.wanted([name for name in only.split(",") if name])


# ---- the report ----------------------------------------------------------------------


def _show(console: Console, report: DebugReport) -> None:
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
        f"  kernel   {report.kernel or 'chosen at run time'}",
        f"  tensor   {_tensor(wrong)}",
        f"           {difference.text}",
    ]
    if wrong.read_by is not None:
        reader = wrong.read_by
        reads = "which is an output of the method"
        if reader < len(method.instructions):
            reads = f"which instruction {reader} ({operator(method, reader)}) reads"
        said.append(f"  It overwrites this tensor, {reads}.")
    module, frame = debugging.module_of(wrong), debugging.source_of(wrong)
    if module:
        said.append(f"  module   {module}")
    if frame is not None:
        function = "" if names.is_of_module(frame) else f", in {frame.name}"
        said.append(f"  source   {frame.filename}:{frame.line}{function}")
    said.append(f"  inputs   {_inputs(wrong)}")
    return said


def _tensor(wrong: Wrong) -> str:
    if wrong.inside is not None:
        return "inside the delegate"
    if wrong.value is None:
        return "none: the board stopped here"
    return f"value {wrong.value}, {wrong.method.values[wrong.value]}"


def _inputs(wrong: Wrong) -> str:
    if not wrong.inputs:
        return "right, to the tolerance: the fault is in this node"
    values = ", ".join(f"value {off.value}" for off in wrong.inputs)
    return f"already off: {values}; of these inputs, too, the result is wrong"
