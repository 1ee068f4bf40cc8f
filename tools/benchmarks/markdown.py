# SPDX-License-Identifier: Apache-2.0
"""Figures become tables of Markdown; sections replace those of a page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

_TITLE = re.compile(r"^## .*$", re.MULTILINE)


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> str:
    """Columns from `left` on are right-aligned."""
    lines = [head, ["---" if i < left else "---:" for i in range(len(head))], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def merged(page: str, new: str) -> str:
    """The page with the sections of `new` in place of its own; others stay, and what is
    new comes last. Text before the first section is that of `new`, if it has some."""
    before, ours = _sections(page)
    first, theirs = _sections(new)
    every = ours | theirs
    return (first or before) + "\n".join(
        text.strip("\n") + "\n" for text in every.values()
    )


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """What stands before the first section, and each section by its title."""
    starts = [match.start() for match in _TITLE.finditer(text)]
    edges = [*starts, len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(edges)]
    before = text[: edges[0]]
    return before.lstrip("\n"), {piece.partition("\n")[0]: piece for piece in pieces}
