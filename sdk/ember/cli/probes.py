"""`ember probes`: what is connected to this computer that a board can be."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from ember import output
from ember.flash import probes


def command(json_to: output.JsonOption = None) -> None:
    found = probes.survey()
    if json_to != "-":
        _show(found)
    output.write_json(_facts(found), json_to)


def _show(found: probes.Survey) -> None:
    console = output.console()
    if found.found:
        table = output.table("kind", "id", "what it is", "for")
        for one in found.found:
            tools = ", ".join(one.tools) or "--port"
            table.add_row(one.kind, escape(one.id), escape(one.title), tools)
        console.print(table)
    else:
        console.print("nothing is connected")
    for kind, why, remedy in found.unseen:
        console.print(f"not searched: {kind}: {why} ({escape(remedy)})")


def _facts(found: probes.Survey) -> dict[str, Any]:
    return {
        "found": [
            {"kind": o.kind, "id": o.id, "title": o.title, "tools": list(o.tools)}
            for o in found.found
        ],
        "not_looked_for": [
            {"kind": kind, "why": why, "remedy": remedy}
            for kind, why, remedy in found.unseen
        ],
    }
