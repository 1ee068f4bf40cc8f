# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/bench."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import (
    core,
    cycles,
    dialects,
    hvx,
    int8,
    markdown,
    models,
    report,
    report_cycles,
    report_hexagon,
    row_memory,
    sizes,
    sme,
    sweeps,
    work,
)
from ember import output, paths
from ember.errors import SdkError

_PAGE = Path("docs") / "performance.md"
_CADENCE = Path("docs") / "cadence.md"
_MEMORY = Path("docs") / "memory.md"


def main() -> int:
    parser = _parser()
    options = parser.parse_args()
    if options.command is None:
        parser.print_help()
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="ember-bench-") as folder:
            failed: int = options.command(options, Path(folder))
            return failed
    except SdkError as error:
        hint = f"\n  hint: {error.hint}" if error.hint else ""
        print(f"bench: {error.what}{hint}", file=sys.stderr)
        return 1


Parser = argparse.ArgumentParser


def _parser() -> Parser:
    parser = Parser(
        prog="tools/bench",
        description="What firmware costs in bytes, instructions and cycles.",
    )
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands")

    def add(run: Callable[[argparse.Namespace, Path], int], text: str) -> Parser:
        command = commands.add_parser(run.__name__.strip("_"), help=text)
        command.set_defaults(command=run)
        return command

    _baseline(add(_core, "the runtime on Cortex-M4 and -M55"))
    _baseline(add(_int8, "the committed int8 models on M4 and M55"))
    timed = add(_cycles, "estimates of the committed int8 models on M4 and M55")
    whole = "the four int8 models of MLPerf Tiny instead, one on M7 too"
    _baseline(_flag(timed, "--whole", whole))
    packets = add(_hvx, "int8 layers and models on Hexagon")
    _baseline(_flag(packets, "--whole", "five whole int8 models instead"))
    beside = add(_cadence, f"its int8 layers beside those of cortex_m, for {_CADENCE}")
    _board(beside, dialects.BOARDS)
    _flag(_json(beside), "--update", "write the table of the page")
    memory = add(_rows, f"RAM of models row by row, for {_MEMORY}")
    only = "models with it in their names"
    memory.add_argument("--only", metavar="TEXT", default="", help=only)
    _flag(_json(memory), "--update", "write the tables of the page")
    _json(add(_sme, "matrix products on Arm64 with SME"))
    steps = add(_work, "instructions for a step of work")
    _board(steps, work.BOARDS)
    draws = "for each program (%(default)s)"
    steps.add_argument("--draws", type=int, default=work.DRAWS, help=draws)
    steps.add_argument("--jobs", type=int, default=1, help="cases at once")
    some = "with one of them in their names"
    steps.add_argument("--operators", nargs="+", metavar="TEXT", help=some)
    slower = "a program takes more for a step than the baseline of its kernels"
    _baseline(steps, slower)
    many = add(_sweep, "cases a second, workers, a task's cost")
    many.add_argument("--tasks", type=int, default=100_000, help="without work")
    _json(many)
    page = add(_report, f"write {_PAGE}, models included")
    _flag(page, "--core", "only the figures of the runtime")
    _flag(page, "--cycles", "only its section of estimated cycles")
    _flag(page, "--hexagon", "only Hexagon's, from its baseline")
    return parser


def _flag(parser: Parser, name: str, text: str) -> Parser:
    parser.add_argument(name, action="store_true", help=text)
    return parser


def _json(parser: Parser) -> Parser:
    parser.add_argument("--json", metavar="FILE", help="also as JSON; - is stdout")
    return parser


def _board(parser: Parser, names: Sequence[str]) -> None:
    parser.add_argument("--board", choices=names, help="only this board")


def _baseline(
    parser: Parser, worse: str = "a figure is more than 2 %% worse than the baseline"
) -> None:
    _flag(_json(parser), "--check", f"fail when {worse}")
    _flag(parser, "--update", "make these figures the baseline")


# ---- parts of commands ---------------------------------------------------------------


def _show(
    options: argparse.Namespace,
    columns: Sequence[str],
    rows: Iterable[Iterable[str]],
    facts: Any,
    width: int = 80,
) -> None:
    """A table, and its figures as JSON."""
    table = output.table(*columns)
    for row in rows:
        table.add_row(*row)
    output.console(options.json, columns=width).print(table)
    output.write_json(facts, options.json)


def _numbers(*figures: float | None) -> list[str]:
    return ["" if figure is None else f"{figure:,}" for figure in figures]


def _judged(options: argparse.Namespace, bench: ModuleType, figures: Any) -> int:
    """By the baseline of a module, or as its new baseline."""
    if options.update:
        bench.write_baseline(figures)
    return _told(bench.worse(figures, bench.baseline()) if options.check else [])


def _told(sentences: list[str]) -> int:
    for sentence in sentences:
        print(f"bench: {sentence}", file=sys.stderr)
    return 1 if sentences else 0


# ---- commands ------------------------------------------------------------------------


def _core(options: argparse.Namespace, folder: Path) -> int:
    figures = core.measure(folder)
    rows = (
        [title, *(f"{values[name]:,}" for values in figures.values())]
        for name, title in core.FIGURES.items()
    )
    _show(options, ("", *(f">{name}" for name in core.BOARDS.values())), rows, figures)
    return _judged(options, core, figures)


def _int8(options: argparse.Namespace, folder: Path) -> int:
    costs = int8.measure_small(folder)
    columns = (">execute", ">load", ">code", ">RAM", ">code, prepared")
    rows = (
        [c.name, c.core, *_numbers(c.execute, c.load, c.code, c.ram, c.prepared)]
        for c in costs
    )
    _show(options, ("model", "core", *columns), rows, [asdict(cost) for cost in costs])
    return _judged(options, int8, costs)


def _cycles(options: argparse.Namespace, folder: Path) -> int:
    measure = cycles.measure_whole if options.whole else cycles.measure_small
    costs = measure(folder)
    columns = (">instructions", ">cycles", ">on its board", ">load")
    rows = (
        [c.name, c.core, *_numbers(c.instructions, c.execute, c.here, c.load)]
        for c in costs
    )
    _show(options, ("model", "core", *columns), rows, [asdict(cost) for cost in costs])
    return _judged(options, cycles, costs)


def _hvx(options: argparse.Namespace, folder: Path) -> int:
    measure = hvx.measure_whole if options.whole else hvx.measure
    costs = measure(folder)
    columns = ("layer or model", ">MACs", ">packets", ">MAC/packet")
    rows = ([c.name, *_numbers(c.macs, c.packets), f"{c.each:.1f}"] for c in costs)
    _show(options, columns, rows, [asdict(cost) for cost in costs])
    return _judged(options, hvx, costs)


def _cadence(options: argparse.Namespace, folder: Path) -> int:
    if options.board and options.update:
        raise SdkError("--update writes the columns of all boards: leave out --board")
    names = [options.board] if options.board else dialects.BOARDS
    costs = dialects.measure(folder, names)
    rows = []
    for cost in costs:
        last_by, first_by = ("" if x is None else f"{x:.2f}" for x in cost.ratios)
        by, last, first = _numbers(cost.cortex_m, cost.last, cost.first)
        rows.append([cost.layer, cost.board, by, last, last_by, first, first_by])
    columns = ("layer", "board", ">cortex_m", ">last", ">", ">first", ">")
    _show(options, columns, rows, [asdict(cost) for cost in costs], 120)
    if options.update:
        tables = {dialects.TITLE: dialects.table(costs)}
        _rewrite(_CADENCE, lambda page: markdown.updated(page, tables))
    return 0


def _work(options: argparse.Namespace, folder: Path) -> int:
    names = [options.board] if options.board else work.BOARDS
    others, texts = folder / "others", options.operators or ("",)
    work.write_others(others, texts, options.draws)
    measured = {name: work.measure(name, others, options.jobs, texts) for name in names}
    figures = {name: work.of(outcomes) for name, outcomes in measured.items()}
    rows = []
    for operator in sorted({name for factors in figures.values() for name in factors}):
        values = [factors.get(operator) for factors in figures.values()]
        rows.append([operator, *("" if x is None else f"{x:,g}" for x in values)])
    _show(options, ("operator", *(f">{name}" for name in figures)), rows, figures)
    sentences = []
    if options.check:
        known = work.factors()
        for name, outcomes in measured.items():
            sentences += work.over(outcomes, known.get(name, {}))
    if options.update:
        work.write(figures, some=bool(options.operators))
    return _told(sentences)


def _rows(options: argparse.Namespace, folder: Path) -> int:
    if options.only and options.update:
        raise SdkError("--update writes the tables of all models: leave out --only")
    every = row_memory.tables()
    costs = row_memory.measure(folder, every, options.only)
    columns = ("model", "type", "core", "rows", ">bytes", ">instructions")
    rows = (
        [c.model, c.type, c.core, c.mode, *_numbers(c.bytes, c.instructions)]
        for c in costs
    )
    _show(options, columns, rows, [asdict(cost) for cost in costs], 120)
    if options.update:
        _rewrite(_MEMORY, lambda page: row_memory.updated(page, every, costs))
    return 0


def _sme(options: argparse.Namespace, folder: Path) -> int:
    products = sme.measure(folder)
    columns = (*report.SME_COLUMNS[:3], *(f">{x}" for x in report.SME_COLUMNS[3:]))
    facts = [asdict(product) for product in products]
    _show(options, columns, report.sme_rows(products), facts, 100)
    return 0


def _sweep(options: argparse.Namespace, folder: Path) -> int:
    cost = sweeps.measure(folder, options.tasks)
    rows = [
        [f"cases a processor second on {board}", f"{1 / seconds:.0f}"]
        for board, seconds in cost.each_s.items()
    ]
    rows += [
        ["two workers, of one", f"{cost.alone_s / cost.together_s:.2f}"],
        [f"a task, of {cost.tasks:,}", f"{1000 * cost.task_s:.1f} ms"],
        ["of what its batch works", f"{cost.task_s / cost.batch_s:.1%}"],
    ]
    _show(options, ("", ">"), rows, asdict(cost))
    return 0


def _report(options: argparse.Namespace, folder: Path) -> int:
    tables: dict[str, str] = {}
    every = not (options.core or options.hexagon or options.cycles)
    if options.core or every:
        tables |= report.tables_of_core(
            core.measure(folder), core.with_accessors(folder)
        )
    if every:
        tables |= report.tables(
            sizes.measure(folder / "sizes"),
            models.measure(folder),
            models.measure_whole(folder / "whole"),
            int8.measure_whole(folder / "int8"),
        )
        tables |= report.tables_of_sme(sme.measure(folder / "sme"))
    if options.hexagon or every:
        tables |= report_hexagon.tables(hvx.baseline())
    if options.cycles or every:
        tables |= report_cycles.tables(cycles.measure_whole(folder / "cycles"))
    _rewrite(_PAGE, lambda page: markdown.updated(page, tables))
    print(f"{_PAGE} is written")
    return 0


def _rewrite(page: Path, renewed: Callable[[str], str]) -> None:
    path = paths.root() / page
    path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
