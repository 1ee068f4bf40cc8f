"""An answer of `ember plan` becomes what a person reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from ember import output
from ember.output import counted, plain


def show_peaks(console: Console, facts: Mapping[str, Any]) -> None:
    """Of each planned memory the moment when most is alive, and what that is."""
    for method in facts["methods"]:
        for memory in method["memories"]:
            peak = memory["peak"]
            if not peak["tensors"]:
                continue
            made = output.table("at the peak", "type", ">bytes", ">offset")
            for one in peak["tensors"]:
                row = (plain(one["name"]), plain(one["type"]))
                made.add_row(*row, f"{one['bytes']:,}", f"{one['offset']:,}")
            console.print()
            console.print(
                f"{plain(method['method'])}, planned memory {memory['id']}: most is"
                f" alive at {_moment(peak)}: {counted(peak['bytes'], 'byte')}"
            )
            console.print(made)
            if peak["more"]:
                console.print(f"and {peak['more']} smaller ones")


def _moment(peak: Mapping[str, Any]) -> str:
    if peak["operator"] in ("entry", "exit"):
        return f"the {peak['operator']}"
    return f"instruction {peak['instruction']} ({plain(peak['operator'])})"


def show_delegates(console: Console, facts: Mapping[str, Any]) -> None:
    """What delegates take of the scratch, one at a time, and how well it is used."""
    for one in facts.get("delegates", ()):
        console.print(
            f"delegate {one['index']} of {plain(one['method'])}: scratch"
            f" {counted(one['values'] + one['work'], 'byte')}, of them"
            f" {one['values']:,} for values (at least {one['bound']:,})"
        )
    if facts.get("packed"):
        console.print(f"weights packed for kernels {counted(facts['packed'], 'byte')}")
    if payloads := facts.get("payloads", {}).get("spare"):
        reused, reason = facts["payloads"]["reused"], facts["payloads"]["reason"]
        console.print(
            f"payloads {counted(payloads, 'byte')}, not read once loaded: "
            + (
                f"they stay, {reason}"
                if reason
                else f"scratch takes {reused:,} of them"
            )
        )


def show_refusal(console: Console, facts: Mapping[str, Any]) -> None:
    """Why a plan is not one, and what would help."""
    if not facts["resolved"]:
        lines = map(plain, facts["reason"].splitlines())
        console.print("[red]not all is known:[/] " + "\n".join(lines))
        console.print("the plan covers planned memory, constants and the stack alone")
    if facts["fits"]:
        return
    over = counted(facts["over"], "byte")
    console.print(f"[red]does not fit {facts['board']}: {over} too many[/]")
    for one in facts["shortages"]:
        console.print(
            f"  {plain(one['purpose'])}: {one['needed']:,} bytes,"
            f" {one['over']:,} more than {one['memory']} has left"
            f" ({one['free']:,} of {one['capacity']:,})"
        )
    show_peaks(console, facts)
    console.print()
    for one in facts["helps"]:
        rest = "it fits" if one["fits"] else f"still {one['over']:,} bytes too many"
        console.print(f"with {one['change']}: {rest}")
    small = facts["int8"]
    console.print(
        f"as int8 instead of float32, as far as the plan can tell: activations"
        f" {small['activations']:,}, constants {counted(small['constants'], 'byte')}"
    )
    fitting = ", ".join(facts["boards_that_fit"])
    console.print(f"boards with enough memory: {fitting or 'none'}")
