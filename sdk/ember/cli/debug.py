"""`ember debug`: name the first node of a case that differs from a reference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ember import boards, cases, output
from ember.build import project as projects
from ember.build.project import Project
from ember.cases import Case
from ember.cli.build import OptimizeOption
from ember.cli.options import KernelsOption, PassesOption, ProjectOption
from ember.cli.reports import first_wrong as reports
from ember.cli.test import BaudOption, PortOption, SshOption, Transport, line_of
from ember.errors import UsageError
from ember.plan import passes
from ember.run import debugging
from ember.run.debugging import DebugOrder
from ember.run.tolerance import Tolerance

_PYTORCH = "pytorch"
AgainstOption = Annotated[
    str,
    typer.Option(
        "--against",
        metavar="host|pytorch|BOARD",
        help="The reference: Ember's own kernels on this computer or on a board, or"
        " PyTorch.",
    ),
]


def command(
    path: Annotated[
        Path, typer.Argument(metavar="CASE", help="A case folder, or a .bpte.")
    ],
    board: Annotated[
        str, typer.Option("--board", metavar="NAME", help="See `ember boards`.")
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
        float | None, typer.Option(min=0.0, help="Of floats. Default: 1e-4.")
    ] = None,
    atol: Annotated[
        float | None,
        typer.Option(min=0.0, help="Default: 1e-5 of the largest number of a node."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.1, help="Of one execution."),
    ] = None,
    optimize: OptimizeOption = None,
    port: PortOption = None,
    baud: BaudOption = None,
    ssh: SshOption = None,
    transport: Annotated[
        Transport,
        typer.Option(help="uart: feed the emulator through its serial port."),
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
        reports.show(output.console(), report)
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
