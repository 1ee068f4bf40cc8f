"""Sizes, plans and certificates of a build become what a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from ember.build import Built
from ember.output import counted, plain, table
from ember.toolchain import footprint

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
    lines = table(
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
            lines.add_row(memory, purpose, f"{planned:,}", f"{linked:,}", *last)
    return lines


def _stack_line(stack: dict[str, Any]) -> str:
    if "unproven" in stack:
        return f"stack without a proof, as large as --stack says: {stack['unproven']}"
    if stack["bound"] is None:
        return "the stack has no known bound on this board"
    deepest = stack["path"][-1]["function"]
    return (
        f"stack bound {counted(stack['bound'], 'byte')}: calls"
        f" {stack['calls']:,}, down to {plain(deepest)}, {_handlers(stack)}exception"
        f" {stack['exception']:,}"
    )


def _handlers(stack: dict[str, Any]) -> str:
    """Those of the application that may nest."""
    names = (f"{plain(row['handler'])} {row['bytes']:,}" for row in stack["levels"])
    return f"handlers {stack['handlers']:,} ({', '.join(names)}), " * bool(
        stack["levels"]
    )


def show_passes(console: Console, passes: Sequence[Mapping[str, Any]]) -> None:
    """What each pass of packing brought, where it did; and what was dropped."""
    for pass_ in passes:
        if pass_["status"] == "used":
            console.print(f"pass {pass_['name']}: {', '.join(_effects(pass_))}")
        elif pass_["status"] == "dropped":
            reason = plain(pass_["reason"])
            console.print(f"[yellow]pass {pass_['name']} is left out:[/] {reason}")


def _effects(pass_: Mapping[str, Any]) -> Iterator[str]:
    for count, what in (
        (pass_["planned"], "byte of memory"),
        (pass_["constants"], "byte of constants"),
        (pass_["instructions"], "instruction"),
    ):
        noun = what if abs(count) == 1 else what.replace("byte", "bytes", 1)
        noun += "s" if what == "instruction" and abs(count) != 1 else ""
        if count:
            yield f"{abs(count):,} {noun} {'less' if count > 0 else 'more'}"


def size_table(sizes: dict[str, int]) -> Table:
    rows = table("section", ">bytes")
    for name in _KINDS:
        rows.add_row(name, f"{sizes[name]:,}")
    return rows


def footprint_table(footprints: footprint.Footprint) -> Table:
    """Bytes by library, then by operator, then of the kernels' shared parts."""
    rows_table = table("part", *(f">{kind}" for kind in footprint.KINDS))
    for group, rows in footprints.items():
        for name, row in rows.items():
            title = name if group == "libraries" else f"  {plain(name)}"
            rows_table.add_row(title, *(f"{row[kind]:,}" for kind in footprint.KINDS))
        rows_table.add_section()
    return rows_table


def memory_table(memories: list[dict[str, Any]]) -> Table:
    rows = table("memory", ">used", ">capacity", ">full")
    for memory in memories:
        share = memory["used"] / memory["capacity"]
        rows.add_row(
            memory["name"],
            f"{memory['used']:,}",
            f"{memory['capacity']:,}",
            f"{share:.1%}",
        )
    return rows
