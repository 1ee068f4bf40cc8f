"""`ember probes`: list the probes, boot loaders and ports that are connected."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from ember import output
from ember.flash import probes


def command(json_to: output.JsonOption = None) -> None:
    survey = probes.survey()
    if json_to != "-":
        _show(survey)
    output.write_json(_facts(survey), json_to)


def _show(survey: probes.Survey) -> None:
    console = output.console()
    if survey.connected:
        table = output.table("kind", "id", "what it is", "for")
        for probe in survey.connected:
            tools = ", ".join(probe.tools) or "--port"
            table.add_row(probe.kind, escape(probe.id), escape(probe.title), tools)
        console.print(table)
    else:
        console.print("nothing is connected")
    for kind, why, remedy in survey.unseen:
        console.print(f"not searched: {kind}: {why} ({escape(remedy)})")


def _facts(survey: probes.Survey) -> dict[str, Any]:
    return {
        "found": [
            {"kind": o.kind, "id": o.id, "title": o.title, "tools": list(o.tools)}
            for o in survey.connected
        ],
        "not_looked_for": [
            {"kind": kind, "why": why, "remedy": remedy}
            for kind, why, remedy in survey.unseen
        ],
    }
