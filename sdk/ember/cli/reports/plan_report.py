"""An answer of `ember plan` becomes what a person reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from ember import output
from ember.build.advice import refusal
from ember.build.advice import rows as rows_advice
from ember.output import counted, plain

_K = 1024


def show_peaks(console: Console, facts: Mapping[str, Any]) -> None:
    """Of each planned memory the moment when most is alive, and what that is."""
    for method in facts["methods"]:
        for memory in method["memories"]:
            peak = memory["peak"]
            if not peak["tensors"]:
                continue
            rows = output.table("at the peak", "type", ">bytes", ">offset")
            for tensor in peak["tensors"]:
                row = (plain(tensor["name"]), plain(tensor["type"]))
                rows.add_row(*row, f"{tensor['bytes']:,}", f"{tensor['offset']:,}")
            console.print()
            console.print(
                f"{plain(method['method'])}, planned memory {memory['id']}: most is"
                f" in use at {_moment(peak)}: {counted(peak['bytes'], 'byte')}"
            )
            console.print(rows)
            if peak["more"]:
                console.print(f"and {peak['more']} smaller ones")


def _moment(peak: Mapping[str, Any]) -> str:
    if peak["operator"] in ("entry", "exit"):
        return f"the {peak['operator']}"
    return f"instruction {peak['instruction']} ({plain(peak['operator'])})"


def show_work(console: Console, work: Mapping[str, Any]) -> None:
    """The bound of the steps of an execution, of each method."""
    for row in work["methods"]:
        whose = f"{plain(row['method'])}: " if len(work["methods"]) > 1 else ""
        if row["steps"] is not None:
            steps = f"at most {counted(row['steps'], 'step')} an execution"
        else:
            steps = f"unbounded ({row['why']}): set a budget (--budget)"
        console.print(f"work {whose}{steps}")


def show_rows(console: Console, facts: Mapping[str, Any]) -> None:
    """What layers that run row by row take, or would save."""
    for model in facts["rows"]:
        console.print(plain(rows_advice.summary(model)), soft_wrap=True)


def show_delegates(console: Console, facts: Mapping[str, Any]) -> None:
    """What delegates take of the scratch, one at a time, and how well it is used."""
    for delegate in facts.get("delegates", ()):
        console.print(
            f"delegate {delegate['index']} of {plain(delegate['method'])}: scratch"
            f" {counted(delegate['values'] + delegate['work'], 'byte')},"
            f" {delegate['values']:,} of them for values"
            f" (at least {delegate['bound']:,})"
        )
    if facts.get("packed"):
        console.print(f"weights packed for kernels {counted(facts['packed'], 'byte')}")
    if payloads := facts.get("payloads", {}).get("spare"):
        reused, reason = facts["payloads"]["reused"], facts["payloads"]["reason"]
        console.print(
            f"payloads {counted(payloads, 'byte')}, not needed after loading: "
            + (f"kept, {reason}" if reason else f"scratch reuses {reused:,} of them")
        )


def show_pieces(console: Console, facts: Mapping[str, Any]) -> None:
    """What lies in each memory: what was linked, then regions by their C names."""
    rows = output.table("memory", "what", ">bytes")
    for piece in (*facts["sections"], *facts["regions"]):
        rows.add_row(piece["memory"], plain(piece["name"]), f"{piece['bytes']:,}")
    console.print(rows)


def show_gains(console: Console, gains: Sequence[Mapping[str, Any]]) -> None:
    """What a run would save if something lay elsewhere, and what that needs."""
    if gains:
        console.print()
    for gain in gains:
        line = (
            f"{gain['name']} in {gain['to']} instead of {gain['memory']}:"
            f" {gain['cycles']:,} cycles less in a run; takes"
            f" {counted(gain['bytes'], 'byte')}, {gain['free']:,} are free"
        )
        if gain["lacking"]:
            more = -(-gain["lacking"] // _K)
            line += f" (see --what-if {gain['to']}=+{more}K)"
        console.print(plain(line), soft_wrap=True)
        if gain["rule"] and not gain["lacking"]:
            console.print(plain(f"  in ember.yaml: {gain['rule']}"), soft_wrap=True)
        elif gain["rule"]:
            count = counted(len(gain["kernels"]), "kernel")
            line = f"  there is room for {count}, {gain['saved']:,} cycles less, by"
            console.print(
                plain(f"{line} this in ember.yaml: {gain['rule']}"), soft_wrap=True
            )


def show_doubts(console: Console, facts: Mapping[str, Any]) -> None:
    """What the figures do not know."""
    if not facts["resolved"]:
        lines = map(plain, facts["reason"].splitlines())
        console.print("[red]incomplete:[/] " + "\n".join(lines))
        console.print("the plan covers only planned memory, constants and the stack")
    if not facts["linked"]:
        stack, reason = facts["assumed"]["stack"], facts["assumed"]["reason"]
        console.print(
            f"[yellow]without code, and with an assumed stack of {stack:,} bytes:[/]"
            f" {plain(reason)}"
        )


def show_refusal(console: Console, facts: Mapping[str, Any]) -> None:
    """Why a plan is not one, and what would help: as `ember build` says it."""
    names = ", ".join(dict.fromkeys(method["model"] for method in facts["methods"]))
    console.print(f"[red]{plain(refusal.what(facts, names or 'the model'))}[/]")
    for line in refusal.advice(facts):
        console.print(plain(line))
    show_peaks(console, facts)
    console.print()
    small = facts["int8"]
    console.print(
        "as int8 instead of float32, as far as the plan can tell: activations"
        f" {small['activations']:,}, constants {counted(small['constants'], 'byte')}"
    )
