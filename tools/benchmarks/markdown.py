# SPDX-License-Identifier: Apache-2.0
"""Figures become tables of Markdown, which replace those of a page."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> str:
    """Columns from `left` on are right-aligned."""
    lines = [head, ["---" if i < left else "---:" for i in range(len(head))], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def updated(page: str, tables: Mapping[str, str]) -> str:
    """The page with these tables, each in place of the first that stands at or after a
    line with such a start: its own first line, or a title."""
    for start, text in tables.items():
        lines = page.splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if line.startswith(start))
        first = next(n for n in range(at, len(lines)) if lines[n].startswith("|"))
        rest = itertools.dropwhile(lambda line: line.startswith("|"), lines[first:])
        page = "".join([*lines[:first], text, *rest])
    return page
