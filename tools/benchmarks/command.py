# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/bench."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tools/bench",
        description="What firmware costs in bytes, instructions and cycles.",
    )
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands")
    core = commands.add_parser("core", help="the runtime on Cortex-M4 and -M55")
    _with_baseline(core).set_defaults(command=_core)
    small = commands.add_parser("int8", help="the committed int8 models on M4 and M55")
    _with_baseline(small).set_defaults(command=_int8)
    timed = commands.add_parser(
        "cycles", help="estimates of the committed int8 models on M4 and M55"
    )
    timed.add_argument(
        "--whole",
        action="store_true",
        help="the four int8 models of MLPerf Tiny instead, one on M7 too",
    )
    _with_baseline(timed).set_defaults(command=_cycles)
    packets = commands.add_parser("hvx", help="int8 layers and models on Hexagon")
    packets.add_argument(
        "--whole", action="store_true", help="five whole int8 models instead"
    )
    _with_baseline(packets).set_defaults(command=_hvx)
    beside = commands.add_parser(
        "cadence", help=f"its int8 layers beside those of cortex_m, for {_CADENCE}"
    )
    beside.add_argument("--board", choices=dialects.BOARDS, help="only this board")
    beside.add_argument("--json", metavar="FILE", help="also as JSON; - is stdout")
    beside.add_argument(
        "--update", action="store_true", help="write the table of the page"
    )
    beside.set_defaults(command=_cadence)
    memory = commands.add_parser(
        "rows", help=f"RAM of models row by row, for {_MEMORY}"
    )
    memory.add_argument(
        "--only", metavar="TEXT", default="", help="models with it in their names"
    )
    memory.add_argument("--json", metavar="FILE", help="also as JSON; - is stdout")
    memory.add_argument(
        "--update", action="store_true", help="write the tables of the page"
    )
    memory.set_defaults(command=_rows)
    wide = commands.add_parser("sme", help="matrix products on Arm64 with SME")
    wide.add_argument("--json", metavar="FILE", help="also as JSON; - is stdout")
    wide.set_defaults(command=_sme)
    steps = commands.add_parser("work", help="instructions for a step of work")
    steps.add_argument("--board", choices=work.BOARDS, help="only this board")
    steps.add_argument(
        "--draws", type=int, default=work.DRAWS, help="for each program (%(default)s)"
    )
    steps.add_argument("--jobs", type=int, default=1, help="cases at once")
    steps.add_argument(
        "--operators", nargs="+", metavar="TEXT", help="with one of them in their names"
    )
    worse = "a program takes more for a step than the baseline of its kernels"
    _with_baseline(steps, worse).set_defaults(command=_work)
    many = commands.add_parser("sweep", help="cases a second, workers, a task's cost")
    many.add_argument("--tasks", type=int, default=100_000, help="without work")
    many.add_argument("--json", metavar="FILE", help="also as JSON; - is stdout")
    many.set_defaults(command=_sweep)
    page = commands.add_parser("report", help=f"write {_PAGE}, models included")
    page.add_argument(
        "--core", action="store_true", help="only the figures of the runtime"
    )
    page.add_argument(
        "--cycles", action="store_true", help="only its section of estimated cycles"
    )
    page.add_argument(
        "--hexagon", action="store_true", help="only Hexagon's, from its baseline"
    )
    page.set_defaults(command=_report)
    return parser


def _with_baseline(
    parser: argparse.ArgumentParser,
    worse: str = "a figure is more than 2 %% worse than the baseline",
) -> argparse.ArgumentParser:
    parser.add_argument("--json", metavar="FILE", help="also as JSON; - is stdout")
    parser.add_argument(
        "--check",
        action="store_true",
        help=f"fail when {worse}",
    )
    parser.add_argument(
        "--update", action="store_true", help="make these figures the baseline"
    )
    return parser


def _core(options: argparse.Namespace, folder: Path) -> int:
    figures = core.measure(folder)
    _show(figures, options.json)
    output.write_json(figures, options.json)
    if options.update:
        core.write_baseline(figures)
    return _told(core.worse(figures, core.baseline()) if options.check else [])


def _int8(options: argparse.Namespace, folder: Path) -> int:
    costs = int8.measure_small(folder)
    columns = (">execute", ">load", ">code", ">RAM", ">code, prepared")
    table = output.table("model", "core", *columns)
    for cost in costs:
        figures = (cost.execute, cost.load, cost.code, cost.ram, cost.prepared)
        table.add_row(cost.name, cost.core, *(f"{figure:,}" for figure in figures))
    output.console(options.json).print(table)
    output.write_json([asdict(cost) for cost in costs], options.json)
    if options.update:
        int8.write_baseline(costs)
    return _told(int8.worse(costs, int8.baseline()) if options.check else [])


def _cycles(options: argparse.Namespace, folder: Path) -> int:
    measure = cycles.measure_whole if options.whole else cycles.measure_small
    costs = measure(folder)
    columns = (">instructions", ">cycles", ">on its board", ">load")
    table = output.table("model", "core", *columns)
    for cost in costs:
        figures = (cost.instructions, cost.execute, cost.here, cost.load)
        table.add_row(cost.name, cost.core, *(f"{figure:,}" for figure in figures))
    output.console(options.json).print(table)
    output.write_json([asdict(cost) for cost in costs], options.json)
    if options.update:
        cycles.write_baseline(costs)
    return _told(cycles.worse(costs, cycles.baseline()) if options.check else [])


def _hvx(options: argparse.Namespace, folder: Path) -> int:
    measure = hvx.measure_whole if options.whole else hvx.measure
    costs = measure(folder)
    table = output.table("layer or model", ">MACs", ">packets", ">MAC/packet")
    for cost in costs:
        table.add_row(
            cost.name, f"{cost.macs:,}", f"{cost.packets:,}", f"{cost.each:.1f}"
        )
    output.console(options.json).print(table)
    output.write_json([asdict(cost) for cost in costs], options.json)
    if options.update:
        hvx.write_baseline(costs)
    return _told(hvx.worse(costs, hvx.baseline()) if options.check else [])


def _cadence(options: argparse.Namespace, folder: Path) -> int:
    if options.board and options.update:
        raise SdkError("--update writes the columns of all boards: leave out --board")
    names = [options.board] if options.board else dialects.BOARDS
    costs = dialects.measure(folder, names)
    columns = (">cortex_m", ">last", ">", ">first", ">")
    table = output.table("layer", "board", *columns)
    for cost in costs:
        first = "" if cost.first is None else f"{cost.first:,}"
        ratios = ("" if x is None else f"{x:.2f}" for x in cost.ratios)
        last_by, first_by = ratios
        counts = (f"{cost.cortex_m:,}", f"{cost.last:,}", last_by, first, first_by)
        table.add_row(cost.layer, cost.board, *counts)
    output.console(options.json, columns=120).print(table)
    output.write_json([asdict(cost) for cost in costs], options.json)
    if options.update:
        path = paths.root() / _CADENCE
        page = markdown.merged(
            path.read_text(encoding="utf-8"), dialects.section(costs)
        )
        path.write_text(page, encoding="utf-8")
    return 0


def _work(options: argparse.Namespace, folder: Path) -> int:
    names = [options.board] if options.board else work.BOARDS
    others, texts = folder / "others", options.operators or ("",)
    work.write_others(others, texts, options.draws)
    measured = {name: work.measure(name, others, options.jobs, texts) for name in names}
    figures = {name: work.of(outcomes) for name, outcomes in measured.items()}
    table = output.table("operator", *(f">{name}" for name in figures))
    for operator in sorted(
        {operator for rows in figures.values() for operator in rows}
    ):
        values = [rows.get(operator) for rows in figures.values()]
        table.add_row(operator, *("" if x is None else f"{x:,g}" for x in values))
    output.console(options.json).print(table)
    output.write_json(figures, options.json)
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
    table = output.table("model", "type", "core", "rows", ">bytes", ">instructions")
    for cost in costs:
        count = "" if cost.instructions is None else f"{cost.instructions:,}"
        where = (cost.model, cost.type, cost.core, cost.mode)
        table.add_row(*where, f"{cost.bytes:,}", count)
    output.console(options.json, columns=120).print(table)
    output.write_json([asdict(cost) for cost in costs], options.json)
    if options.update:
        path = paths.root() / _MEMORY
        page = path.read_text(encoding="utf-8")
        path.write_text(row_memory.updated(page, every, costs), encoding="utf-8")
    return 0


def _sme(options: argparse.Namespace, folder: Path) -> int:
    products = sme.measure(folder)
    table = output.table(
        *report.SME_COLUMNS[:3], *(f">{x}" for x in report.SME_COLUMNS[3:])
    )
    for row in report.sme_rows(products):
        table.add_row(*row)
    output.console(options.json, columns=100).print(table)
    output.write_json([asdict(product) for product in products], options.json)
    return 0


def _sweep(options: argparse.Namespace, folder: Path) -> int:
    cost = sweeps.measure(folder, options.tasks)
    table = output.table("", ">")
    for board, seconds in cost.each_s.items():
        table.add_row(f"cases a processor second on {board}", f"{1 / seconds:.0f}")
    gain = cost.alone_s / cost.together_s
    table.add_row("two workers, of one", f"{gain:.2f}")
    share = cost.task_s / cost.batch_s
    table.add_row(f"a task, of {cost.tasks:,}", f"{1000 * cost.task_s:.1f} ms")
    table.add_row("of what its batch works", f"{share:.1%}")
    output.console(options.json).print(table)
    output.write_json(asdict(cost), options.json)
    return 0


def _told(sentences: list[str]) -> int:
    for sentence in sentences:
        print(f"bench: {sentence}", file=sys.stderr)
    return 1 if sentences else 0


def _show(figures: core.Figures, json_to: str | None) -> None:
    table = output.table("", *(f">{name}" for name in core.BOARDS.values()))
    for name, title in core.FIGURES.items():
        table.add_row(title, *(f"{values[name]:,}" for values in figures.values()))
    output.console(json_to).print(table)


def _report(options: argparse.Namespace, folder: Path) -> int:
    if options.core:
        text = report.core_section(core.measure(folder), core.with_accessors(folder))
    elif options.hexagon:
        text = report_hexagon.section(hvx.baseline())
    else:
        text = report_cycles.section(cycles.measure_whole(folder / "cycles"))
        if not options.cycles:
            text = _all_but_cycles(folder) + text
    path = paths.root() / _PAGE
    page = markdown.merged(path.read_text(encoding="utf-8"), text)
    path.write_text(page, encoding="utf-8")
    print(f"{_PAGE} is written")
    return 0


def _all_but_cycles(folder: Path) -> str:
    return report.page(
        core.measure(folder),
        core.with_accessors(folder),
        sizes.measure(folder / "sizes"),
        models.measure(folder),
        models.measure_whole(folder / "whole"),
        int8.measure_whole(folder / "int8"),
        sme.measure(folder / "sme"),
    )
