"""`ember compare`: show what changed between two builds, or two profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ember import output
from ember.cli.reports import runs
from ember.errors import SdkError
from ember.files import documents
from ember.run import profile
from ember.toolchain import footprint

_SIZES = Path("5-firmware") / "size.json"


def command(
    before: Annotated[
        Path,
        typer.Argument(metavar="A", help="Build folder, or JSON from `ember profile`."),
    ],
    after: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    json_to: output.JsonOption = None,
) -> None:
    if before.is_file() and after.is_file():
        _compare_profiles(profile.read(before), profile.read(after), json_to)
    else:
        _compare_sizes(before, after, json_to)


def _compare_profiles(
    before: profile.Profile, after: profile.Profile, json_to: str | None
) -> None:
    found = profile.changes(before, after)
    if json_to != "-":
        runs.show_changes(output.console(), before, after, found)
    facts = {one.name: list(one.instructions) for one in found}
    whole = {
        "execute": [before.execute, after.execute],
        "load": [before.load, after.load],
    }
    for name in ("execute_cycles", "load_cycles", "execute_board_cycles"):
        both = [getattr(before, name), getattr(after, name)]
        if None not in both:
            whole[name] = both
    output.write_json({"operators": facts} | whole, json_to)


def _compare_sizes(before: Path, after: Path, json_to: str | None) -> None:
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
        found = documents.read_json(path)
        if not isinstance(found, dict):
            raise SdkError(f"{path} is not a JSON object")
    except SdkError:
        raise SdkError(
            f"{folder} is not a finished build: {_SIZES} is missing or broken",
            hint="make it with `ember build MODEL --board NAME --out FOLDER`",
        ) from None
    return found
