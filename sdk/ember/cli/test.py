"""`ember test`: run test cases on boards and compare with the expected outputs."""

from __future__ import annotations

import contextlib
import enum
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ember import boards, cases, output, writing
from ember.boards import Board
from ember.cases import Found, picked
from ember.cli import options
from ember.cli.build import OptimizeOption
from ember.cli.options import (
    AcquiredOption,
    KernelsOption,
    PlaceOption,
    ProjectOption,
    WaitOption,
    baselines,
    board_names,
)
from ember.cli.reports import tests
from ember.errors import UsageError
from ember.firmware import jobs as build_jobs
from ember.firmware import project as projects
from ember.hil import places as lab
from ember.hil.line import EmulatedLine, Line, Port, need_emulator
from ember.hil.places import PlaceOrder
from ember.hil.ssh import Ssh
from ember.output import counted, plain
from ember.plan import passes
from ember.run import testing
from ember.run.once import BudgetOption
from ember.run.testing import Outcome
from ember.toolchain import emulator

_CASES, _HOW = "Which cases", "How they run"  # panels of the help

PortOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Serial port of a board with the runner: /dev/ttyACM0,"
        " socket://host:port, rfc2217://..",
        rich_help_panel=options.BOARDS_PANEL,
    ),
]
BaudOption = Annotated[
    int | None,
    typer.Option(
        metavar="RATE",
        min=1,
        help="Baud rate. Default: the board's.",
        rich_help_panel=options.BOARDS_PANEL,
    ),
]
SshOption = Annotated[
    str | None,
    typer.Option(
        metavar="USER@HOST",
        help="Run on a Linux computer with the board's kind of core, by the system's"
        " ssh.",
        rich_help_panel=options.BOARDS_PANEL,
    ),
]


ShardOption = Annotated[
    str | None,
    typer.Option(
        metavar="K/N",
        help="Run the K-th of N parts that take about equally long.",
        rich_help_panel=_CASES,
    ),
]
DurationsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="JSON of an earlier run, by which --shard makes equal parts.",
        rich_help_panel=_CASES,
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


def line_of(
    port: str | None,
    baud: int | None,
    ssh: str | None,
    transport: Transport,
    chosen: Sequence[Board],
) -> Line | None:
    """How the boards are reached; None: they are emulated."""
    if ssh is not None:
        return _remote(ssh, port, transport, chosen)
    return _line(port, baud, transport, chosen)


def _line(
    port: str | None, baud: int | None, transport: Transport, chosen: Sequence[Board]
) -> Line | None:
    if port is None:
        if baud is not None:
            raise UsageError("--baud needs --port")
        serial = transport is Transport.uart
        for target in chosen:
            (need_emulator if serial else emulator.need)(target)
        return EmulatedLine() if serial else None
    if transport is Transport.uart:
        raise UsageError(
            "give --port (a board) or --transport uart (its emulator), not both"
        )
    if len(chosen) != 1:
        raise UsageError("--port needs exactly one --board")
    return Port(port, baud)


def _check_place(
    chosen: Sequence[Board], port: str | None, ssh: str | None, transport: Transport
) -> None:
    if port is not None or ssh is not None or transport is Transport.uart:
        raise UsageError("give --place (a board of a lab) or another line, not both")
    if len(chosen) != 1:
        raise UsageError("--place needs exactly one --board")


@contextlib.contextmanager
def _held(
    order: PlaceOrder | None, board: Board, name: str, baud: int | None, *, flash: bool
) -> Iterator[Line | None]:
    """The line of a place, until the block ends. `name`: as --board takes it."""
    if order is None:
        yield None
        return
    with lab.held(order) as line:
        line.check_board(board.name)
        line.board, line.baud, line.needs_firmware = name, baud, flash
        yield line


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="Case folders, .bpte, or folders of them."
        ),
    ],
    board: Annotated[
        list[str],
        typer.Option(
            "--board",
            metavar="NAME",
            help="Target board; see `ember boards`. Repeatable.",
            autocompletion=board_names,
        ),
    ],
    expression: Annotated[
        str,
        typer.Option(
            "-k",
            metavar="EXPR",
            help="Run only cases whose names match, such as 'add and not bf16'.",
            rich_help_panel=_CASES,
        ),
    ] = "",
    shard: ShardOption = None,
    durations: DurationsOption = None,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="How many boards to run at a time.",
            rich_help_panel=_HOW,
        ),
    ] = os.cpu_count() or 1,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            help="Time limit of one case.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    budget: BudgetOption = None,
    optimize: OptimizeOption = None,
    port: PortOption = None,
    baud: BaudOption = None,
    ssh: SshOption = None,
    place: PlaceOption = None,
    wait: WaitOption = None,
    acquired: AcquiredOption = False,
    flash: Annotated[
        bool,
        typer.Option(
            "--flash",
            help="Flash the runner to the place's board first.",
            rich_help_panel=options.BOARDS_PANEL,
        ),
    ] = False,
    transport: Annotated[
        Transport,
        typer.Option(
            help="How cases reach the emulator: as files, or through its serial port"
            " (uart).",
            rich_help_panel=options.BOARDS_PANEL,
        ),
    ] = Transport.files,
    poison: Annotated[
        int | None,
        typer.Option(
            metavar="BYTE",
            parser=_byte,
            help="Pack programs, and fill memory with this byte, such as 0xA5, once it"
            " is dead.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    junit_to: Annotated[
        Path | None,
        typer.Option(
            "--junit",
            metavar="FILE",
            help="Also write a JUnit report.",
            rich_help_panel=baselines.PANEL,
        ),
    ] = None,
    baseline: baselines.BaselineOption = None,
    update: baselines.UpdateOption = False,
    allow: baselines.AllowOption = None,
    summary_to: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            metavar="FILE",
            help="Also write a summary in Markdown, for a pull request.",
            rich_help_panel=baselines.PANEL,
        ),
    ] = None,
    rows: Annotated[
        passes.Rows | None,
        typer.Option(
            metavar="off|smallest|fed",
            help="smallest: pack programs so that layers run row by row wherever that"
            " saves memory; fed: with an input that comes row by row.",
            rich_help_panel=_HOW,
        ),
    ] = None,
    own_kernels: KernelsOption = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> int:
    clock = testing.Clock()
    plans = projects.load(project, own_kernels)
    names = dict.fromkeys(board)
    chosen = [plans.rules.narrowed(boards.load(name)) for name in names]
    order = options.order_of(place, wait, acquired)
    if order is not None:
        _check_place(chosen, port, ssh, transport)
    elif flash:
        raise UsageError("--flash needs --place")
    port_baud = None if order is not None else baud
    line = line_of(port, port_baud, ssh, transport, chosen)
    emulated = line is None and order is None and poison is None
    check = baselines.Check(baseline, update=update, allow=allow, emulated=emulated)
    kept = _part(_matching(paths, expression), shard, durations)
    console = output.console(json_to)
    if plans.rules.calls:
        console.print("pins of single calls are ignored here: pin their operators")

    def show(tested: Outcome) -> None:
        color = _COLORS[tested.status]
        line = f"[{color}]{tested.status:6}[/] {tested.board} {plain(tested.name)}"
        if tested.message:
            line += f": {plain(tested.message)}"
        console.print(line, soft_wrap=True)

    for report in filter(None, (junit_to, summary_to)):
        writing.need_file(report)
    asked = build_jobs.options_of(plans, optimize, rows=rows)
    with _held(order, chosen[0], board[0], baud, flash=flash) as held:
        passed = testing.test(
            kept,
            chosen,
            jobs=jobs,
            settings=testing.Settings(
                timeout_s=timeout,
                budget=budget,
                optimize=asked.optimize,
                rules=plans.rules,
                poison=poison,
                passes=asked.passes,
                rows=asked.rows,
                line=held or line,
            ),
            on_result=show,
        )
    results = check.results(passed, asked, timeout)
    for outcome in results:
        if outcome not in passed:
            show(outcome)
    check.store()
    check.show(console)
    seconds = clock.seconds
    wrong = _end(console, results, seconds)
    if junit_to is not None:
        tests.write_junit(results, seconds, junit_to)
    check.write_summary(results, summary_to)
    output.write_json(testing.to_json(results, seconds) | check.to_json(), json_to)
    return 1 if wrong else 0


def _matching(paths: Sequence[Path], expression: str) -> list[Found]:
    known = cases.find(paths)
    wanted = picked.parse_filter(expression)
    kept = [case for case in known if wanted(case.name)]
    if not kept:
        raise UsageError(f"-k '{expression}' matches none of {len(known)} cases")
    return kept


def _part(
    matching: list[Found], shard: str | None, durations: Path | None
) -> list[Found]:
    if shard is None:
        if durations is not None:
            raise UsageError("--durations needs --shard")
        return matching
    known = picked.costs(durations) if durations is not None else {}
    return picked.part_of(matching, *picked.parse_part(shard), known)


def _end(console: Console, results: Sequence[Outcome], seconds: float) -> bool:
    """Shows how the run ended; whether anything failed."""
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
    return bool(wrong)
