"""Run logs and profiles become lines and tables on the console."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console

from ember.cases import inputs
from ember.cli.reports.builds import show_build
from ember.cycles.estimate import Cycles
from ember.files.tensors import Array
from ember.firmware import Built
from ember.output import plain, table
from ember.run import run
from ember.run.profile import Change, Profile, Row
from ember.toolchain import emulator

_TOP = 5  # values of an output
_MOST_NODES = 30
_RATE = "MAC/1"
_DROPPED = (
    "bytes",
    "MACs",
    _RATE,
    "calls",
    "module",
    "node",
    "share",
)  # the first one first
_GAP = 3  # between columns of a table


def show_run(console: Console, log: run.RunLog, *, details: bool) -> None:
    for index, (value, array) in enumerate(zip(log.outputs, log.arrays(), strict=True)):
        console.print(f"output {index}: {_output(value, array)}")
    if details:
        console.print()
        show_build(console, log.built, log.used)
    else:
        _show_memories(console, log.built)
    if log.execute is None or log.load is None:
        console.print(emulator.counts_nothing(log.built.board))
        return
    console.print(f"{log.unit}: load {log.load:,}, execute {log.execute:,}")
    _show_cycles(console, log.load_cycles, log.execute_cycles)
    if details:
        _show_nodes(console, log)


def _show_memories(console: Console, built: Built) -> None:
    """The memory that the firmware takes, in a line."""
    used = ", ".join(
        f"{memory['name']} {memory['used']:,} of {memory['capacity']:,} bytes"
        for memory in built.sizes["memory"]
        if memory["used"]
    )
    names = ", ".join(plain(model.name) for model in built.models)
    console.print(f"{names} on {built.board.name}: {used}", soft_wrap=True)


def _show_cycles(console: Console, load: Cycles, execute: Cycles) -> None:
    for title, before, after in (
        ("zero wait states", load.core, execute.core),
        ("with this board's memories", load.board, execute.board),
    ):
        if before is not None and after is not None:
            console.print(
                f"cycles, estimated, {title}: load {before:,}, execute {after:,}"
            )


def _output(value: inputs.Value, array: Array | inputs.Value) -> str:
    if not isinstance(value, inputs.TensorValue) or not isinstance(array, np.ndarray):
        return str(value)
    shape = ",".join(str(size) for size in value.sizes)
    kind = f"{value.dtype.label}\\[{shape}]"
    numbers = run.floats(array, value.dtype).reshape(-1)
    if numbers.size <= 2 * _TOP:
        return f"{kind} {_numbers(numbers)}"
    order = np.argsort(-numbers.astype(np.float64), kind="stable")[:_TOP]
    top = ", ".join(f"{index}: {numbers[index]:.6g}" for index in order)
    return f"{kind}, largest {top}"


def _numbers(numbers: Array) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers.tolist())


def _show_nodes(console: Console, log: run.RunLog) -> None:
    counts = sorted(log.nodes, key=lambda node: -(node.instructions or 0))
    shown = {node.index for node in counts[:_MOST_NODES]}
    estimated = log.execute_cycles.core is not None
    figures = (
        ">executions",
        f">{log.unit}",
        *([">cycles", ">here"] if estimated else []),
    )
    rows_table = table(">node", "operator", "kernel", *figures)
    for node in log.nodes:
        if node.index in shown and node.instructions is not None:
            rows_table.add_row(
                str(node.index),
                plain(node.op),
                node.kernel or "",
                f"{node.executions:,}",
                f"{node.instructions:,}",
                *_estimates(node.cycles.core, node.cycles.board),
            )
    if rows_table.row_count:
        console.print()
        console.print(rows_table)
    if len(counts) > _MOST_NODES:
        console.print(f"and {len(counts) - _MOST_NODES} cheaper nodes: see --json")


# ---- profiles ----------------------------------------------------------------------


def show_profile(console: Console, profile: Profile, most: int) -> None:
    """Operators, then nodes, costliest first."""
    console.print(f"[bold]{plain(profile.model)}[/] on [bold]{profile.board}[/]")
    load = "" if profile.load is None else f"load {profile.load:,}, "
    console.print(f"{profile.unit}: {load}execute {profile.execute:,}")
    _show_cycles(
        console,
        Cycles(profile.load_cycles, profile.load_board_cycles),
        Cycles(profile.execute_cycles, profile.execute_board_cycles),
    )
    estimated = ("cycles", "here") if profile.execute_cycles is not None else ()
    columns = ("calls", "MACs", _RATE, "bytes", "share", profile.unit, *estimated)
    shown = [
        [_short(row.name), f"{len(row.nodes):,}", *_costs(row)]
        for row in profile.operators
    ]
    rated = _show_table(console, ("operator", *columns), shown)
    named = any(row.module for row in profile.nodes[:most])
    shown = [
        [
            row.kernels[0] if row.kernels else _short(row.name),
            *([plain(row.module or "")] if named else []),
            _place(row),
            *_costs(row),
        ]
        for row in profile.nodes[:most]
    ]
    heads = ("kernel", *(["module"] if named else []), "node")
    rated |= _show_table(console, (*heads, *columns[1:]), shown)
    if len(profile.nodes) > most:
        console.print(f"and {len(profile.nodes) - most} cheaper nodes: see --top")
    if rated:
        console.print(f"{_RATE}: multiply-accumulates for each of the {profile.unit}")
    if estimated:
        console.print("here: cycles with this board's memories")


def _place(row: Row) -> str:
    """The place of a node: its instruction, and its index inside a delegate."""
    (index,) = row.nodes
    return str(index) if row.inside is None else f"{index}.{row.inside}"


def _show_table(
    console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> bool:
    """Shows a table; columns without room are left out in the order of _DROPPED and
    named. Whether the rate is shown."""
    widths = {
        name: max([len(name), *(len(row[at]) for row in rows)])
        for at, name in enumerate(columns)
    }
    kept = list(columns)
    for name in _DROPPED:
        if sum(widths[column] + _GAP for column in kept) - _GAP <= console.width:
            break
        kept = [column for column in kept if column != name]
    rows_table = table(kept[0], *(f">{name}" for name in kept[1:]))
    rows_table.columns[0].no_wrap, rows_table.columns[0].overflow = True, "ellipsis"
    # A number is never cut; a name may be.
    numbers = sum(_GAP + widths[name] for name in kept[1:])
    rows_table.columns[0].max_width = max(1, console.width - numbers)
    for row in rows:
        rows_table.add_row(
            *(row[at] for at, name in enumerate(columns) if name in kept)
        )
    console.print()
    console.print(rows_table)
    dropped = [name for name in columns if name not in kept]
    if dropped:
        console.print(f"no room for {', '.join(dropped)}: see --json")
    return _RATE in kept


def _short(name: str) -> str:
    """The operator without its library and common suffixes."""
    return plain(name.rpartition("::")[2].removesuffix(".out"))


def _costs(row: Row) -> tuple[str, ...]:
    rate = row.macs_per_instruction
    return (
        f"{row.macs:,}" if row.macs else "",
        f"{rate:.2f}" if rate else "",
        f"{row.moved:,}",
        f"{row.share:.1%}",
        f"{row.instructions:,}",
        *_estimates(row.cycles, row.board_cycles),
    )


def _estimates(*cycles: int | None) -> list[str]:
    """Columns of estimated cycles, if there are any."""
    return [f"{count:,}" for count in cycles if count is not None]


def show_changes(
    console: Console, before: Profile, after: Profile, changes: list[Change]
) -> None:
    """Two profiles side by side."""
    for mark, side in (("A", before), ("B", after)):
        console.print(f"{mark}: {plain(side.model)} on {side.board}, {side.unit}")
    rows_table = table("operator", ">calls", ">A", ">MAC/1", ">B", ">MAC/1", ">B/A")
    for change in changes:
        calls = [
            str(len(row.nodes)) if row else "-" for row in (change.before, change.after)
        ]
        same = calls[0] == calls[1]
        shown = calls[0] if same else "/".join(calls)
        rows_table.add_row(_short(change.name), shown, *_beside(change))
    rows_table.add_section()
    ratio = after.execute / before.execute if before.execute else 0.0
    whole = (f"{before.execute:,}", "", f"{after.execute:,}", "", f"{ratio:.3f}")
    rows_table.add_row("execute", "", *whole)
    if before.load is not None and after.load is not None:
        rows_table.add_row(
            "load", "", f"{before.load:,}", "", f"{after.load:,}", "", ""
        )
    console.print()
    console.print(rows_table)
    if None not in (before.execute_cycles, after.execute_cycles):
        _show_changed_cycles(console, before, after, changes)


def _show_changed_cycles(
    console: Console, before: Profile, after: Profile, changes: list[Change]
) -> None:
    rows_table = table("cycles, estimated", ">A", ">B", ">B/A")
    for change in changes:
        rows_table.add_row(_short(change.name), *_cycles_beside(*change.cycles))
    rows_table.add_section()
    whole = before.execute_cycles, after.execute_cycles
    rows_table.add_row("execute", *_cycles_beside(*whole))
    here = before.execute_board_cycles, after.execute_board_cycles
    rows_table.add_row("execute, with the boards' memories", *_cycles_beside(*here))
    rows_table.add_row("load", *_cycles_beside(before.load_cycles, after.load_cycles))
    console.print()
    console.print(rows_table)


def _cycles_beside(old: int | None, new: int | None) -> tuple[str, ...]:
    old, new = old or 0, new or 0
    return f"{old:,}", f"{new:,}", f"{new / old:.3f}" if old else ""


def _beside(change: Change) -> tuple[str, ...]:
    old, new = change.instructions
    rates = [
        row.macs_per_instruction if row else None
        for row in (change.before, change.after)
    ]
    first, second = (f"{rate:.2f}" if rate else "" for rate in rates)
    return f"{old:,}", first, f"{new:,}", second, f"{new / old:.3f}" if old else ""
