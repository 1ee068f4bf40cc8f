"""`ember test`: run test cases on boards and compare with the expected outputs."""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ember import boards, cases, output, writing
from ember.boards import Board
from ember.build import project as projects
from ember.cases import filters
from ember.cli.build import OptimizeOption
from ember.cli.options import KernelsOption, ProjectOption
from ember.cli.reports import junit
from ember.errors import UsageError
from ember.hil import emulated
from ember.hil.line import EmulatedLine, Line, Port
from ember.hil.ssh import Ssh
from ember.output import counted, plain
from ember.run import testing
from ember.run.once import BudgetOption
from ember.run.testing import Outcome
from ember.toolchain import emulator

PortOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="A board that runs the runner: /dev/ttyACM0, socket://host:port,"
        " rfc2217://..",
    ),
]
BaudOption = Annotated[
    int | None, typer.Option(metavar="RATE", min=1, help="Default: the board's.")
]
SshOption = Annotated[
    str | None,
    typer.Option(
        metavar="USER@HOST",
        help="A computer with the board's kind of core and Linux, by the system's ssh.",
    ),
]


class Transport(enum.StrEnum):
    files = "files"
    uart = "uart"


_COLORS = {"passed": "green", "failed": "red", "error": "red"}


def _byte(text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value <= 0xFF:
        raise UsageError(f"--poison is a byte such as 0xA5, not '{text}'")
    return value


def _remote(
    ssh: str, port: str | None, transport: Transport, chosen: Sequence[Board]
) -> Line | None:
    if port is not None or transport is Transport.uart:
        raise UsageError("give --ssh (a computer) or a serial port, not both")
    if len(chosen) != 1 or chosen[0].port != "linux_user" or not chosen[0].detects:
        raise UsageError(
            "--ssh needs exactly one --board, with Linux", "such as linux-aarch64"
        )
    return Ssh(ssh)


def _line(
    port: str | None, baud: int | None, transport: Transport, chosen: Sequence[Board]
) -> Line | None:
    if port is None:
        if baud is not None:
            raise UsageError("--baud needs --port")
        serial = transport is Transport.uart
        for target in chosen:
            (emulated if serial else emulator).need(target)
        return EmulatedLine() if serial else None
    if transport is Transport.uart:
        raise UsageError(
            "give --port (a board) or --transport uart (its emulator), not both"
        )
    if len(chosen) != 1:
        raise UsageError("--port needs exactly one --board")
    return Port(port, baud)


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Case folders, .bpte, or folders of them."
        ),
    ],
    board: Annotated[
        list[str],
        typer.Option("--board", metavar="NAME", help="See `ember boards`; repeatable."),
    ],
    expression: Annotated[
        str,
        typer.Option("-k", metavar="EXPR", help="Such as 'add and not bf16'."),
    ] = "",
    jobs: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many boards to run at a time.")
    ] = os.cpu_count() or 1,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.1, help="Time limit of one case."),
    ] = None,
    budget: BudgetOption = None,
    optimize: OptimizeOption = None,
    port: PortOption = None,
    baud: BaudOption = None,
    ssh: SshOption = None,
    transport: Annotated[
        Transport,
        typer.Option(help="uart: feed the emulator through its serial port."),
    ] = Transport.files,
    poison: Annotated[
        int | None,
        typer.Option(
            metavar="BYTE",
            parser=_byte,
            help="Pack programs; fill memory with this byte once it is dead, such as"
            " 0xA5.",
        ),
    ] = None,
    junit_to: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="JUnit report.")
    ] = None,
    own_kernels: KernelsOption = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> int:
    clock = testing.Clock()
    plans = projects.load(project, own_kernels)
    names = dict.fromkeys(board)
    chosen = [plans.rules.narrowed(boards.load(name)) for name in names]
    if ssh is not None:
        line = _remote(ssh, port, transport, chosen)
    else:
        line = _line(port, baud, transport, chosen)
    known = cases.find(paths)
    wanted = filters.parse(expression)
    kept = [case for case in known if wanted(case.name)]
    if not kept:
        raise UsageError(f"-k '{expression}' matches none of {len(known)} cases")
    console = output.console(json_to)
    if plans.rules.calls:
        console.print("pins of single calls are ignored here: pin their operators")

    def show(tested: Outcome) -> None:
        color = _COLORS[tested.status]
        line = f"[{color}]{tested.status:6}[/] {tested.board} {plain(tested.name)}"
        if tested.message:
            line += f": {plain(tested.message)}"
        console.print(line, soft_wrap=True)

    if junit_to is not None:
        writing.need_file(junit_to)
    results = testing.test(
        kept,
        chosen,
        jobs=jobs,
        settings=testing.Settings(
            timeout_s=timeout,
            budget=budget,
            optimize=optimize or plans.optimize,
            rules=plans.rules,
            poison=poison,
            passes=plans.passes,
            line=line,
        ),
        on_result=show,
    )
    seconds = clock.seconds
    counts = testing.summary(results)
    wrong = [result for result in results if result.status != "passed"]
    if wrong:
        console.print("\nto run a case again:")
        for result in wrong:
            console.print(f"  {plain(result.again)}", soft_wrap=True)
    console.print(
        f"\n{counts['passed']} passed, {counts['failed']} failed,"
        f" {counted(counts['error'], 'error')} in {seconds:.1f} s"
    )
    if junit_to is not None:
        junit.write(results, seconds, junit_to)
    output.write_json(testing.to_json(results, seconds), json_to)
    return 1 if wrong else 0
