"""What a command says: text and tables for a person, JSON for a machine."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ember import progress, writing


def writable(path: Path | None) -> Path | None:
    """Of an option that names a file: refuse what cannot be written before the work
    whose result it would hold."""
    if path is not None:
        writing.need_file(path)
    return path


def _json_target(json_to: str | None) -> str | None:
    """Refuse what cannot be written before the work whose result it would hold."""
    if json_to not in (None, "-"):
        writing.need_file(Path(json_to))
    return json_to


JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json",
        callback=_json_target,
        metavar="FILE",
        help="Also write the result as JSON; - for standard output.",
    ),
]


class _Console(Console):
    """One that shares a terminal with progress.py."""

    def print(self, *objects: Any, **options: Any) -> None:
        with progress.hidden():
            super().print(*objects, **options)


def console(json_to: str | None = None, columns: int = 80) -> Console:
    """The console for a person; on stderr when stdout belongs to the JSON.

    A file or a pipe gets lines of `columns` characters.
    """
    stderr = json_to == "-"
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else columns
    return _Console(stderr=stderr, width=width, highlight=False, soft_wrap=False)


def table(*columns: str, title: str | None = None) -> Table:
    """A plain table; a column that starts with '>' is right-aligned."""
    table = Table(
        box=box.SIMPLE_HEAD,
        title=title,
        title_justify="left",
        pad_edge=False,
        show_edge=False,
    )
    for column in columns:
        right = column.startswith(">")
        table.add_column(
            column.lstrip(">"),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    return table


def write_json(data: Any, json_to: str | None) -> None:
    """Write `data` where `--json` said: nowhere, a file, or stdout for '-'.

    JSON has no NaN and no infinities: they become the strings "NaN", "Infinity",
    "-Infinity".
    """
    if json_to is None:
        return
    text = json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False)
    text += "\n"
    if json_to == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    # Names of files that are no text become JSON's \udcXX.
    writing.write(Path(json_to), text.encode("utf-8", "backslashreplace"))


def write_text(text: str, path: Path) -> None:
    """Write a file that an option names."""
    writing.write(path, text.encode("utf-8", "surrogateescape"))


def _finite(data: Any) -> Any:
    """The same data with floats that JSON cannot express as strings."""
    if isinstance(data, float) and not math.isfinite(data):
        return "NaN" if math.isnan(data) else f"{'-' * (data < 0)}Infinity"
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


def note(what: str, remedy: str) -> None:
    """Something that its user should know, on stderr; nothing failed."""
    sys.stderr.write(f"note: {what}\n  hint: {remedy}\n")


def plain(text: str) -> str:
    """Text from a file, safe to print: no control characters, no Rich markup."""
    return escape(
        "".join(
            character if character.isprintable() else "\ufffd" for character in text
        )
    )


def counted(count: int, noun: str) -> str:
    """Such as "1 byte", "2,000 bytes"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
