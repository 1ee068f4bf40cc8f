"""`ember inspect`: show what a .pte, .bpte or .ptd file contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from ember import boards, files, kernels, output, program
from ember.boards import Board, isa
from ember.build import project as projects
from ember.cli.options import ProjectOption
from ember.cli.reports import inspect_tables
from ember.errors import SdkError
from ember.files import tensor_data
from ember.model import describe, program_in
from ember.model.describe import Facts
from ember.program import bundle
from ember.select import resolve, selection
from ember.select.delegates import NodeKernel


def command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help=".pte, .bpte, .ptd or a case.")
    ],
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show only this method.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Show every value and instruction.")
    ] = False,
    board: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Also show its kernels for nodes of delegates."
        ),
    ] = None,
    project: ProjectOption = None,
    json_to: output.JsonOption = None,
) -> None:
    rules = projects.load(project).rules
    target = (
        _Target(rules.narrowed(boards.load(board)), rules.forbid) if board else None
    )
    file = program_in(file) if file.is_dir() else file
    facts = {"file": str(file), **_facts(file, method, values, target)}
    if json_to != "-":
        inspect_tables.show(output.console(), facts, all_rows=values)
    output.write_json(facts, json_to)


@dataclass(frozen=True)
class _Target:
    """Where nodes of delegates would run."""

    board: Board  # without the sets of instructions that the project forbids
    forbidden: tuple[str, ...]

    def why(self, chosen: NodeKernel, backend: kernels.Backend) -> str:
        sets, kernel = self.board.isa, chosen.kernel
        reasons = backend.reasons(kernel, sets, self.forbidden, chosen.refused)
        if chosen.row and isa.of(kernel) == "sme":
            reasons.append(
                "it has one row, which vectors multiply faster than outer products"
            )
        return "; ".join(reasons)


def _facts(
    file: Path, method: str | None, values: bool, target: _Target | None
) -> Facts:
    data = files.read(file)
    kind = files.expect_known(data, str(file))
    if kind is files.Kind.DATA:
        return describe.tensor_data(tensor_data.parse(data, str(file)))
    if kind is files.Kind.BUNDLE:
        bundled = bundle.parse(data, str(file))
        inside = program.parse(bundled.program, f"{file}, its program")
        shown = _program(file, bundled.program, inside, method, values, target)
        return describe.bundle(bundled) | {"program": shown}
    parsed = program.parse(data, str(file))
    return _program(file, data, parsed, method, values, target)


def _program(
    file: Path,
    content: bytes,
    parsed: program.Program,
    method: str | None,
    values: bool,
    target: _Target | None,
) -> Facts:
    methods = _methods(parsed, method)
    facts = describe.program(parsed, methods, values=values)
    if target is not None and any(each.delegates for each in methods):
        needs = selection.look_at(parsed, content, methods, file, target.board)
        _add_kernels(facts, needs, target)
    gaps = selection.look(parsed, content, methods, file.stem)
    return facts | {"missing": [gap.to_json() for gap in gaps]}


def _add_kernels(
    facts: Facts, needs: Sequence[resolve.MethodNeeds], target: _Target
) -> None:
    """What runs each node of the delegates on the board, and why."""
    for method, need in zip(facts["methods"], needs, strict=bool(needs)):
        for index, delegate in need.delegates.items():
            shown = method["delegates"][index]
            backend = kernels.load().backends[shown["id"]]
            for node, chosen in zip(shown["nodes"], delegate.nodes, strict=True):
                why = {"why": target.why(chosen, backend)}
                node.update(chosen.to_json() | why)


def _methods(parsed: program.Program, name: str | None) -> tuple[program.Method, ...]:
    """The method of that name; all of them without a name."""
    if name is None:
        return parsed.methods
    method = parsed.method(name)
    if method is not None:
        return (method,)
    names = [each.name for each in parsed.methods]
    near = get_close_matches(name, names, n=1)
    raise SdkError(
        f"there is no method {name!r}",
        hint=f"did you mean {near[0]!r}?"
        if near
        else f"the methods are {', '.join(names)}",
    )
