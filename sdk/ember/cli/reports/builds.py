"""Sizes, plans and certificates become lines and tables on the console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from ember import output
from ember.firmware import Built
from ember.output import counted, plain, table
from ember.toolchain import footprint

_KINDS = ("code", "rodata", "data", "bss", "model", "arena", "stack")


def show_build(
    console: Console, built: Built, used: Mapping[str, int] | None = None
) -> None:
    """The firmware's content and how full each memory is; `used`: bytes of a run."""
    for model, of_model in zip(built.models, built.all_methods, strict=True):
        methods = ", ".join(plain(method.name) for method in of_model)
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
        return f"stack size of --stack, not proved: {stack['unproven']}"
    if stack["bound"] is None:
        return "the stack has no known bound on this board"
    deepest = stack["path"][-1]["function"]
    return (
        f"stack bound {counted(stack['bound'], 'byte')}: calls"
        f" {stack['calls']:,}, down to {plain(deepest)}, {_handlers(stack)}exception"
        f" {stack['exception']:,}"
    )


def _handlers(stack: dict[str, Any]) -> str:
    """The application's interrupt handlers that can nest."""
    names = (f"{plain(row['handler'])} {row['bytes']:,}" for row in stack["levels"])
    return f"handlers {stack['handlers']:,} ({', '.join(names)}), " * bool(
        stack["levels"]
    )


def show_passes(console: Console, passes: Sequence[Mapping[str, Any]]) -> None:
    """The effect of each pass that was used, and why others were left out."""
    for pass_ in passes:
        if pass_["status"] == "used":
            effects = ", ".join(_effects(pass_)) or "sizes unchanged"
            console.print(f"pass {pass_['name']}: {effects}")
        elif pass_["status"] == "dropped":
            reason = plain(pass_["reason"])
            console.print(f"[yellow]pass {pass_['name']} is left out:[/] {reason}")


def _effects(pass_: Mapping[str, Any]) -> Iterator[str]:
    for kind, what in (("planned", "memory"), ("constants", "constants")):
        size = pass_[kind]
        if size:
            verb = "saves" if size > 0 else "costs"
            yield f"{verb} {counted(abs(size), 'byte')} of {what}"
    count = pass_["instructions"]
    if count:
        verb = "removes" if count > 0 else "adds"
        yield f"{verb} {counted(abs(count), 'instruction')}"


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


# ---- an answer of `ember plan` -------------------------------------------------------


_K = 1024


def show_peaks(console: Console, facts: Mapping[str, Any]) -> None:
    """The peak of each planned memory, and the tensors alive at that moment."""
    for method in facts["methods"]:
        for memory in method["memories"]:
            peak = memory["peak"]
            if not peak["tensors"]:
                continue
            heads = (
                ["module"] if any(each["module"] for each in peak["tensors"]) else []
            )
            rows = output.table("at the peak", *heads, "type", ">bytes", ">offset")
            for tensor in peak["tensors"]:
                keys = ("name", *heads, "type")
                row = (plain(tensor[key] or "") for key in keys)
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
    module = f" of {plain(peak['module'])}" if peak["module"] else ""
    return f"instruction {peak['instruction']} ({plain(peak['operator'])}{module})"


def show_work(console: Console, work: Mapping[str, Any]) -> None:
    """The bound of each method on the steps of an execution."""
    for row in work["methods"]:
        whose = f"{plain(row['method'])}: " if len(work["methods"]) > 1 else ""
        if row["steps"] is not None:
            steps = f"at most {counted(row['steps'], 'step')} an execution"
        else:
            steps = f"unbounded ({row['why']}): set a budget (--budget)"
        console.print(f"work {whose}{steps}")


def show_rows(console: Console, facts: Mapping[str, Any]) -> None:
    """What running layers row by row costs or would save."""
    from ember.firmware.advice import answers  # a build that is up to date needs none

    for model in facts["rows"]:
        console.print(plain(answers.rows_summary(model)), soft_wrap=True)


def show_delegates(console: Console, facts: Mapping[str, Any]) -> None:
    """How much scratch each delegate takes, and how well it uses it."""
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
    """The content of each memory: linked sections, then regions by their C names."""
    rows = output.table("memory", "what", ">bytes")
    for piece in (*facts["sections"], *facts["regions"]):
        rows.add_row(piece["memory"], plain(piece["name"]), f"{piece['bytes']:,}")
    console.print(rows)


def show_gains(console: Console, gains: Sequence[Mapping[str, Any]]) -> None:
    """What a run would save with data in another memory, and what that requires."""
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
    """What the figures leave out or assume."""
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
    """Why a plan fails and what would help, as `ember build` reports it."""
    from ember.firmware.advice import refusal

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
