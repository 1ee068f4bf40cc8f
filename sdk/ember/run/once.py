"""The options of one execution become its run log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from ember import boards
from ember import model as models
from ember.cases import inputs
from ember.cases.inputs import Value
from ember.cycles import estimate
from ember.errors import UsageError
from ember.firmware import Options, build
from ember.firmware import project as projects
from ember.firmware.jobs import options_of
from ember.firmware.project import Project
from ember.plan import passes
from ember.program import Method
from ember.run import run
from ember.toolchain import emulator, libraries
from ember.toolchain.user_code import UserCode

InputOption = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="FILE.npy",
        help="The next input of the method; repeatable. Scalars: a number, true, false"
        " or null.",
    ),
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Method to run. Default: forward, or the only method."
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0.1,
        help="Time limit of the execution. Default: the board's.",
    ),
]

CyclesOption = Annotated[
    bool,
    typer.Option(
        "--cycles", help="Also estimate cycles with a model of the board's core."
    ),
]
BudgetOption = Annotated[
    int | None,
    typer.Option(
        "--budget",
        metavar="STEPS",
        min=1,
        help="End an execution before it exceeds this many elementary steps.",
    ),
]


@dataclass(frozen=True)
class Order:
    """The options of commands that execute a model once."""

    model: Path | None
    board: str | None
    app: UserCode | Path | None = None  # a main() of the user's own
    given: Sequence[str] = ()  # inputs
    method: str | None = None
    out: Path | None = None
    data: Sequence[Path] = ()
    messages: bool = False
    prepared: bool = False
    stack: int | None = None  # bytes; None: as many as the code may need
    optimize: libraries.Optimize | None = None
    rows: passes.Rows | None = None
    toolchain: str | None = None
    timeout: float | None = None
    budget: int | None = None  # steps of one execution
    cycles: bool = False
    kernels: list[Path] = field(default_factory=list)
    project: Path | None = None


def options(order: Order, plans: Project, method: str | None) -> Options:
    """The build options that the order implies."""
    return replace(
        options_of(plans, order.optimize, rows=order.rows),
        methods=(method,) if method else (),
        app=order.app,
        messages=order.messages,
        prepared=order.prepared or plans.prepared,
        stack=order.stack or plans.stack,
        toolchain=order.toolchain,
    )


@dataclass(frozen=True)
class Subject:
    """What is executed once."""

    plans: Project
    path: Path
    board: str
    model: models.Model
    method: Method
    named: bool  # the method, by the order or its case
    inputs: Sequence[Value]
    source: str  # of the inputs: case, given or zeros
    test: int | None = None  # of a bundle, whose inputs they are


def subject(order: Order) -> Subject:
    """What the order means. Wrong inputs are told before the first compiler starts."""
    plans = projects.load(order.project, order.kernels)
    if order.app is None and (order.rows or plans.rows) == "fed":
        raise UsageError(
            "--rows fed: one execution has one row of the input",
            hint="`ember test` gives a model all rows, `ember run --app` runs an"
            " application that does; --rows smallest shows what layers cost",
        )
    path = plans.model_or(order.model)
    case = None if order.given else inputs.of_case(path, order.method)
    chosen = order.method or (case.method if case else None)
    model = models.read(path, order.data)
    method = model.method(chosen)
    if case:
        laid_out, source = inputs.lay_out(method, case.given), "case"
    elif order.given:
        laid_out = inputs.lay_out(method, inputs.read(list(order.given)))
        source = "given"
    else:
        laid_out, source = inputs.zeros(method), "zeros"
    target = plans.board_or(order.board)
    named = chosen is not None
    test = case.test if case else None
    return Subject(plans, path, target, model, method, named, laid_out, source, test)


def execute(order: Order) -> tuple[run.RunLog, str]:
    """Build and run; the log, and where inputs came from: case, given or zeros."""
    board = boards.load(projects.load(order.project).board_or(order.board))
    emulator.need(board)
    if order.cycles:
        estimate.check_known(board.cpu)
    executed = subject(order)
    asked = options(
        order, executed.plans, executed.method.name if executed.named else None
    )
    built = build(
        executed.path, executed.board, out=order.out, data=order.data, options=asked
    )
    log = run.run(
        built,
        executed.inputs,
        cycles=order.cycles,
        timeout_s=order.timeout,
        budget=order.budget,
    )
    return log, executed.source
