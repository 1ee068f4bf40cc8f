"""`ember compare`: show what changed between two builds, or two profiles."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ember import files, output
from ember.cli.reports import runs
from ember.cli.reports.pages import compare as compare_page
from ember.errors import SdkError
from ember.run import profile
from ember.toolchain import footprint

_SIZES = Path("5-firmware") / "size.json"


def command(
    before: Annotated[
        Path,
        typer.Argument(metavar="A", help="Build folder, or JSON of `ember profile`."),
    ],
    after: Annotated[
        Path,
        typer.Argument(metavar="B", help="The build folder or JSON to compare with A."),
    ],
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=output.writable,
            help="Also write a page for a review.",
        ),
    ] = None,
    json_to: output.JsonOption = None,
) -> None:
    if before.is_file() and after.is_file():
        _compare_profiles((before, after), html, json_to)
    else:
        _compare_sizes(before, after, html, json_to)


def _compare_profiles(
    files: tuple[Path, Path], html: Path | None, json_to: str | None
) -> None:
    before, after = map(profile.read, files)
    changes = profile.changes(before, after)
    differ = footprint.options(before.options, after.options)
    if html is not None:
        output.write_text(_page(files, before, after), html)
    if json_to != "-":
        _show_options(differ)
        runs.show_changes(output.console(), before, after, changes)
    facts = {change.name: list(change.instructions) for change in changes}
    whole = {
        "execute": [before.execute, after.execute],
        "load": [before.load, after.load],
    }
    for name in ("execute_cycles", "load_cycles", "execute_board_cycles"):
        both = [getattr(before, name), getattr(after, name)]
        if None not in both:
            whole[name] = both
    output.write_json({"options": differ, "operators": facts} | whole, json_to)


def _show_options(differ: Mapping[str, list[str]]) -> None:
    """Shows first the options that differ."""
    if not differ:
        return
    console, table = output.console(), output.table("differs", "A", "B")
    for name, pair in differ.items():
        table.add_row(*map(output.plain, (name, *pair)))
    console.print(table)
    console.print()


def _page(
    files: tuple[Path, Path], before: profile.Profile, after: profile.Profile
) -> str:
    names = str(files[0]), str(files[1])
    sides = profile.to_json(before), profile.to_json(after)
    try:
        return compare_page.of_profiles(names, *sides)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise SdkError(
            f"{names[0]} or {names[1]} is damaged: its figures do not fit together",
            hint="make both again with `ember profile MODEL --board NAME --json FILE`",
        ) from None


def _compare_sizes(
    before: Path, after: Path, html: Path | None, json_to: str | None
) -> None:
    sides = _read(before), _read(after)
    changes = footprint.changes(*sides)
    differ = footprint.options(*(side.get("options") for side in sides))
    if html is not None:
        names = str(before), str(after)
        output.write_text(compare_page.of_sizes(names, changes, differ), html)
    if json_to != "-":
        _show_options(differ)
        console = output.console()
        rows_table = output.table("", ">before", ">after", ">change")
        for group, rows in changes.items():
            order = sorted(rows.items(), key=lambda row: -abs(row[1][1] - row[1][0]))
            for name, (old, new) in order:
                title = name if group == "firmware" else f"{group}: {name}"
                rows_table.add_row(title, f"{old:,}", f"{new:,}", f"{new - old:+,}")
        if rows_table.row_count:
            console.print(rows_table)
        else:
            console.print("the two builds have the same sizes")
    output.write_json({"options": differ} | changes, json_to)


def _read(folder: Path) -> dict[str, Any]:
    path = folder / _SIZES
    try:
        facts = files.read_json(path)
        if not isinstance(facts, dict):
            raise SdkError(f"{path} is not a JSON object")
    except SdkError:
        raise SdkError(
            f"{folder} is not a finished build: {_SIZES} is missing or broken",
            hint="make it with `ember build MODEL --board NAME --out FOLDER`",
        ) from None
    return facts
