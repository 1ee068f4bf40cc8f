"""Results of a command become text and tables for people, or JSON for machines."""

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
from rich.text import Text

from ember import progress, writing

_TEXT = 8  # the least characters of a column of texts
_GAP = 3  # between columns


def writable(path: Path | None) -> Path | None:
    """Checks the file of an option before the work whose result it will hold."""
    if path is not None:
        writing.need_file(path)
    return path


def _json_target(json_to: str | None) -> str | None:
    """Checks the file of --json before the work whose result it will hold."""
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
    """A console that shares the terminal with progress.py."""

    def print(self, *objects: Any, **options: Any) -> None:
        tables = (thing for thing in objects if isinstance(thing, Table))
        least = max(map(_least, tables), default=0)
        kept = self._width
        # The terminal folds lines that are too long: no number loses digits.
        self.width = max(self.width, least)
        try:
            with progress.hidden():
                super().print(*objects, **options)
        finally:
            self._width = kept


def _least(table: Table) -> int:
    """The least width of a table: numbers are never cut, texts may be."""
    widths = []
    for column in table.columns:
        cells = [column.header, *column.cells]
        width = max(Text.from_markup(str(cell)).cell_len for cell in cells)
        widths.append(width if column.no_wrap else min(width, _TEXT))
    return sum(widths) + _GAP * (len(widths) - 1)


def console(json_to: str | None = None, columns: int = 80) -> Console:
    """The console for people, on standard error if the JSON is on standard output.

    In a file or a pipe, lines have `columns` characters.
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
    """Writes `data` as `--json` says: nowhere, to a file, or to standard output for
    '-'.

    JSON has no NaN or infinities: they become the strings "NaN", "Infinity" and
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
    """Writes a file that an option names."""
    writing.write(path, text.encode("utf-8", "surrogateescape"))


def _finite(data: Any) -> Any:
    """The same data, with floats that JSON cannot express as strings."""
    if isinstance(data, float) and not math.isfinite(data):
        return "NaN" if math.isnan(data) else f"{'-' * (data < 0)}Infinity"
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


def note(what: str, remedy: str) -> None:
    """Tells the user something on standard error; nothing has failed."""
    sys.stderr.write(f"note: {what}\n  hint: {remedy}\n")


def plain(text: str) -> str:
    """Text from a file, safe to print: no control characters, no Rich markup."""
    return escape(
        "".join(
            character if character.isprintable() else "\ufffd" for character in text
        )
    )


def counted(count: int, noun: str) -> str:
    """A number and its noun, such as "1 byte" or "2,000 bytes"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
