"""`ember select`: which operators and kernels programs need, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ember import boards, output, progress
from ember import model as models
from ember import paths as places
from ember.boards import Board
from ember.cli.options import KernelsOption, ProjectOption
from ember.firmware import project as projects
from ember.kernels import opinfo
from ember.kernels.opinfo import OpInfo
from ember.model import Model
from ember.output import plain
from ember.select import gaps, selection
from ember.select.gaps import Gap
from ember.select.resolve import Call
from ember.select.rules import Rules
from ember.select.selection import Examined, Selection


def command(
    programs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PROGRAM...", help="Programs: .pte or .bpte files, or case folders."
        ),
    ] = None,
    ops: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="Also select these operators, such as add.out,mm.out."
        ),
    ] = None,
    ops_yaml: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Also select the operators in a selected_operators.yaml; repeatable.",
        ),
    ] = None,
    all_ops: Annotated[
        bool, typer.Option("--all-ops", help="Select every operator.")
    ] = False,
    board: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Target board; see `ember boards`. Default: the host."
        ),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="FILE.ptd", help="External data; repeatable."),
    ] = None,
    kernels: KernelsOption = None,
    project: ProjectOption = None,
    info_only: Annotated[
        bool,
        typer.Option("--info-only", help="List operators without choosing kernels."),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every call, its kernel, and why.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write selected_operators.yaml."
        ),
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    plans = projects.load(project, kernels)
    paths = list(programs or ())
    if not (paths or ops or ops_yaml or all_ops):
        paths = plans.models_or(paths)
    target = plans.rules.narrowed(boards.load(board or plans.board or "host"))
    asked = _asked(plans.rules, ops, ops_yaml or (), all_ops, checked=not info_only)
    read = [models.read(path, data or ()) for path in paths]
    if info_only:
        _write(asked, read, out or Path("selected_operators.yaml"))
        return
    methods = [method for model in read for method in model.program.methods]
    opinfo.check_schemas(asked, plans.rules.known.operators, methods)
    with progress.doing(f"choosing kernels for {target.name}") as step:
        results = []
        for number, model in enumerate(read):
            step.of(number, len(read))
            results.append(_examine(model, target, plans.rules))
    missing = [gap for result in results for gap in result.gaps]
    missing += gaps.of_names(asked.sources, plans.rules.known)
    allowed = plans.rules.allowed(target)
    chosen = selection.merge(
        [
            *(result.selection.kernels for result in results if result.selection),
            selection.of_operators(asked, allowed),
        ],
        allowed,
    )
    if json_to != "-":
        _show(output.console(), read, results, chosen, explain=explain)
    output.write_json(_facts(read, results, chosen, missing), json_to)
    if missing:
        raise selection.missing(missing)
    if out is not None:
        _write(asked, read, out)


def _write(asked: OpInfo, read: Sequence[Model], out: Path) -> None:
    of_programs = (
        opinfo.of_program(model.program, places.text(model.path)) for model in read
    )
    output.write_text(opinfo.union([asked, *of_programs]).to_yaml(), out)


def _asked(
    rules: Rules,
    ops: str | None,
    files: Sequence[Path],
    all_ops: bool,
    *,
    checked: bool,
) -> OpInfo:
    """The operators that are wanted besides those of programs."""
    known = rules.known.operators
    info = opinfo.union(opinfo.read(path) for path in files)
    info |= opinfo.of_names(ops or "", known if checked else None)
    if not (all_ops or info.everything):
        return info
    return info | OpInfo({op: frozenset({opinfo.DEFAULT}) for op in known}, {}, True)


def _examine(model: Model, board: Board, rules: Rules) -> Examined:
    return selection.examine(
        model.program,
        model.content,
        model.data,
        board,
        model.program.methods,
        model.name,
        rules,
    )


# ---- what is shown -----------------------------------------------------------------


def _facts(
    read: Sequence[Model],
    results: Sequence[Examined],
    chosen: Mapping[str, Sequence[str]],
    missing: Sequence[Gap],
) -> dict[str, Any]:
    models_facts = []
    backends: set[str] = set()
    for model, result in zip(read, results, strict=True):
        facts = result.selection.to_json() if result.selection else {"methods": []}
        models_facts.append({"model": model.name, "methods": facts["methods"]})
        backends.update(facts.get("backends", ()))
    return {
        "operators": {op: list(items) for op, items in chosen.items()},
        "backends": sorted(backends),
        "models": models_facts,
        "missing": [gap.to_json() for gap in missing],
    }


def _show(
    console: Console,
    read: Sequence[Model],
    results: Sequence[Examined],
    chosen: Mapping[str, Sequence[str]],
    *,
    explain: bool,
) -> None:
    if explain:
        for model, result in zip(read, results, strict=True):
            if result.selection:
                _explain(console, model, result.selection)
        return
    table = output.table("operator", "kernels")
    for op, items in chosen.items():
        table.add_row(plain(op), ", ".join(items))
    if table.row_count:
        console.print(table)


def _explain(console: Console, model: Model, chosen: Selection) -> None:
    for method, needs in zip(chosen.methods, chosen.needs, strict=True):
        console.print(f"[bold]{plain(model.name)}[/], method {plain(method.name)}")
        table = output.table(">instruction", "operator", "kernel", "why")
        names = selection.call_names(method)
        for call in needs.calls:
            op = plain(names[call.instruction])
            table.add_row(str(call.instruction), op, call.kernel or "-", _why(call))
        console.print(table)


def _why(call: Call) -> str:
    """Why a kernel was chosen for a call, and why the others were not."""
    reasons = []
    if call.volatile:
        reasons.append("chosen at run time: its arguments can change")
    before = call.kernel is not None
    for candidate in call.candidates:
        if candidate.kernel == call.kernel:
            before = False
        elif candidate.status != 0:
            reasons.append(
                f"not {candidate.kernel}: {candidate.message or 'it refuses'}"
            )
        elif not before:
            reasons.append(f"preferred to {candidate.kernel}, which also accepts it")
    return plain("; ".join(reasons) or "the only one")
