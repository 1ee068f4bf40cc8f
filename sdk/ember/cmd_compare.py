"""`ember compare`: show what changed in size between two builds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ember import footprint, output
from ember.errors import SdkError

_SIZES = Path("5-firmware") / "size.json"


def command(
    before: Annotated[
        Path, typer.Argument(metavar="A", help="Build folder of `ember build`.")
    ],
    after: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    json_to: output.JsonOption = None,
) -> None:
    found = footprint.changes(_read(before), _read(after))
    if json_to != "-":
        console = output.console()
        made = output.table("", ">before", ">after", ">change")
        for group, rows in found.items():
            order = sorted(rows.items(), key=lambda one: -abs(one[1][1] - one[1][0]))
            for name, (old, new) in order:
                title = name if group == "firmware" else f"{group}: {name}"
                made.add_row(title, f"{old:,}", f"{new:,}", f"{new - old:+,}")
        if made.row_count:
            console.print(made)
        else:
            console.print("the two builds have the same sizes")
    output.write_json(found, json_to)


def _read(folder: Path) -> dict[str, Any]:
    path = folder / _SIZES
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise SdkError(
            f"{folder} is no finished build: {_SIZES} is missing or broken",
            hint="make it with `ember build MODEL --board NAME --out FOLDER`",
        ) from None
    return found
