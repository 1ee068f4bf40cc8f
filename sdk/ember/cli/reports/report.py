"""Sizes and run logs become what a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ember.build import Built
from ember.cases import values
from ember.files.tensors import Array
from ember.output import counted, plain, table
from ember.run import run
from ember.run.profile import Change, Profile, Row
from ember.toolchain import footprint

_TOP = 5  # values of an output
_MOST_NODES = 30
_KINDS = ("code", "rodata", "data", "bss", "model", "arena", "stack")


def show_build(
    console: Console, built: Built, used: Mapping[str, int] | None = None
) -> None:
    """The firmware: what is in it, and how full each memory is; `used` by a run."""
    for model, chosen in zip(built.models, built.chosen, strict=True):
        methods = ", ".join(plain(method.name) for method in chosen)
        console.print(
            f"[bold]{plain(model.name)}[/] on [bold]{built.board.name}[/] ({methods})"
        )
    console.print()
    console.print(size_table(built.sizes["size"]))
    console.print()
    console.print(memory_table(built.sizes["memory"]))
    console.print()
    console.print(footprint_table(built.sizes["footprint"]))
    console.print()
    console.print(certificate_table(built.certificate, used))
    console.print(_stack_line(built.certificate["stack"]))
    show_passes(console, built.plan["passes"])


def certificate_table(
    certificate: dict[str, Any], used: Mapping[str, int] | None
) -> Table:
    """Bytes by memory and purpose: planned, as linked, and what a run used."""
    made = table(
        "memory", "purpose", ">planned", ">linked", *([">used"] if used else [])
    )
    rows: dict[tuple[str, str], list[int]] = {}
    for row in certificate["rows"]:
        total = rows.setdefault((row["memory"], row["purpose"]), [0, 0, 0])
        total[0] += row["planned"]
        total[1] += row["linked"]
        total[2] += (used or {}).get(row["place"], 0)
    for (memory, purpose), (planned, linked, most) in sorted(rows.items()):
        if planned or linked:
            last = [f"{most:,}" if most else ""] if used else []
            made.add_row(memory, purpose, f"{planned:,}", f"{linked:,}", *last)
    return made


def _stack_line(stack: dict[str, Any]) -> str:
    if stack["bound"] is None:
        return "the stack has no known bound on this board"
    deepest = stack["path"][-1]["function"]
    return (
        f"stack bound {counted(stack['bound'], 'byte')}: calls"
        f" {stack['calls']:,}, down to {plain(deepest)}, exception"
        f" {stack['exception']:,}"
    )


def show_passes(console: Console, found: Sequence[Mapping[str, Any]]) -> None:
    """What each pass of packing brought, where it did; and what was dropped."""
    for one in found:
        if one["status"] == "used":
            console.print(f"pass {one['name']}: {', '.join(_effects(one))}")
        elif one["status"] == "dropped":
            reason = plain(one["reason"])
            console.print(f"[yellow]pass {one['name']} is left out:[/] {reason}")


def _effects(one: Mapping[str, Any]) -> Iterator[str]:
    for count, what in (
        (one["planned"], "byte of memory"),
        (one["constants"], "byte of constants"),
        (one["instructions"], "instruction"),
    ):
        noun = what if abs(count) == 1 else what.replace("byte", "bytes", 1)
        noun += "s" if what == "instruction" and abs(count) != 1 else ""
        if count:
            yield f"{abs(count):,} {noun} {'less' if count > 0 else 'more'}"


def size_table(sizes: dict[str, int]) -> Table:
    made = table("section", ">bytes")
    for name in _KINDS:
        made.add_row(name, f"{sizes[name]:,}")
    return made


def footprint_table(found: footprint.Footprint) -> Table:
    """Bytes by library, then by operator, then of the kernels' shared parts."""
    made = table("part", *(f">{kind}" for kind in footprint.KINDS))
    for group, rows in found.items():
        for name, row in rows.items():
            title = name if group == "libraries" else f"  {plain(name)}"
            made.add_row(title, *(f"{row[kind]:,}" for kind in footprint.KINDS))
        made.add_section()
    return made


def memory_table(memories: list[dict[str, Any]]) -> Table:
    made = table("memory", ">used", ">capacity", ">full")
    for one in memories:
        share = one["used"] / one["capacity"]
        made.add_row(
            one["name"], f"{one['used']:,}", f"{one['capacity']:,}", f"{share:.1%}"
        )
    return made


def show_run(console: Console, log: run.RunLog) -> None:
    for index, (value, array) in enumerate(zip(log.outputs, log.arrays(), strict=True)):
        console.print(f"output {index}: {_output(value, array)}")
    console.print()
    show_build(console, log.built, log.used)
    if log.execute is None or log.load is None:
        console.print(f"{log.built.board.name} cannot count instructions")
        return
    console.print(f"{log.unit}: load {log.load:,}, execute {log.execute:,}")
    _show_nodes(console, log)


def _output(value: values.Value, array: Array | values.Value) -> str:
    if not isinstance(value, values.TensorValue) or not isinstance(array, np.ndarray):
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
    return ", ".join(f"{one:.6g}" for one in numbers.tolist())


def _show_nodes(console: Console, log: run.RunLog) -> None:
    counts = sorted(log.nodes, key=lambda node: -(node.instructions or 0))
    shown = {node.index for node in counts[:_MOST_NODES]}
    made = table(">node", "operator", "kernel", ">executions", f">{log.unit}")
    for node in log.nodes:
        if node.index in shown and node.instructions is not None:
            made.add_row(
                str(node.index),
                plain(node.op),
                node.kernel or "",
                f"{node.executions:,}",
                f"{node.instructions:,}",
            )
    if made.row_count:
        console.print()
        console.print(made)
    if len(counts) > _MOST_NODES:
        console.print(f"and {len(counts) - _MOST_NODES} cheaper nodes: see --json")


# ---- profiles ----------------------------------------------------------------------


def show_profile(console: Console, found: Profile, most: int) -> None:
    """Operators, then nodes, the costliest first."""
    console.print(f"[bold]{plain(found.model)}[/] on [bold]{found.board}[/]")
    console.print(f"{found.unit}: load {found.load:,}, execute {found.execute:,}")
    columns = (">calls", ">MACs", ">MAC/1", ">bytes", ">share", f">{found.unit}")
    made = table("operator", *columns)
    for row in found.operators:
        made.add_row(_short(row.name), f"{len(row.nodes):,}", *_costs(row))
    console.print()
    console.print(made)
    made = table(">node", "kernel", *columns[1:])
    for row in found.nodes[:most]:
        kernel = row.kernels[0] if row.kernels else _short(row.name)
        made.add_row(str(row.nodes[0]), kernel, *_costs(row))
    console.print()
    console.print(made)
    if len(found.nodes) > most:
        console.print(f"and {len(found.nodes) - most} cheaper nodes: see --top")


def _short(name: str) -> str:
    """An operator without its library, and without what most of them end in."""
    return plain(name.rpartition("::")[2].removesuffix(".out"))


def _costs(row: Row) -> tuple[str, ...]:
    rate = row.macs_per_instruction
    return (
        f"{row.macs:,}" if row.macs else "",
        f"{rate:.2f}" if rate else "",
        f"{row.moved:,}",
        f"{row.share:.1%}",
        f"{row.instructions:,}",
    )


def show_changes(
    console: Console, before: Profile, after: Profile, changes: list[Change]
) -> None:
    """Two profiles side by side."""
    for mark, side in (("A", before), ("B", after)):
        console.print(f"{mark}: {plain(side.model)} on {side.board}, {side.unit}")
    made = table("operator", ">calls", ">A", ">MAC/1", ">B", ">MAC/1", ">B/A")
    for one in changes:
        calls = [str(len(row.nodes)) if row else "-" for row in (one.before, one.after)]
        same = calls[0] == calls[1]
        shown = calls[0] if same else "/".join(calls)
        made.add_row(_short(one.name), shown, *_beside(one))
    made.add_section()
    ratio = after.execute / before.execute if before.execute else 0.0
    whole = (f"{before.execute:,}", "", f"{after.execute:,}", "", f"{ratio:.3f}")
    made.add_row("execute", "", *whole)
    made.add_row("load", "", f"{before.load:,}", "", f"{after.load:,}", "", "")
    console.print()
    console.print(made)


def _beside(change: Change) -> tuple[str, ...]:
    old, new = change.instructions
    rates = [
        row.macs_per_instruction if row else None
        for row in (change.before, change.after)
    ]
    first, second = (f"{rate:.2f}" if rate else "" for rate in rates)
    return f"{old:,}", first, f"{new:,}", second, f"{new / old:.3f}" if old else ""
