"""Facts become pages: one file each, readable without a network, dark, light, printed.

page() is the frame that all of them share; page.css is its style, page.js what moves.
A part of a page that stands for something has `data-key`: under the pointer, all parts
with that key light up, and those whose `data-group` it is; `data-tip` is what it says.
A link to a section of the class `details` shows it below the page, and lights up the
parts whose `data-node` is its id.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

_FOLDER = Path(__file__).parent
_GOLDEN = 137.5  # degrees: neighbours get unlike hues
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(title: str, body: Iterable[str]) -> str:
    """A whole page. `title` is any text, `body` is HTML."""
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{text(title)}</title><style>{style}</style></head><body>",
            *body,
            f'<div id="tip" hidden></div><script>{script}</script></body></html>',
            "",
        ]
    )


def text(words: object) -> str:
    """Any text, safe in a page and in its attributes."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in str(words)))


def tip(*lines: object) -> str:
    """Lines of any text as the attribute that the pointer shows."""
    return f'data-tip="{"&#10;".join(text(line) for line in lines)}"'


def hue(number: int) -> str:
    """The colour of the number-th of some things, as a style."""
    return f"--hue:{number * _GOLDEN % 360:g}"


def cell(value: object) -> str:
    """A cell of a table: integers with separators, None empty, Html as it is."""
    if isinstance(value, Html):
        return f"<td>{value.markup}</td>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
        return f'<td class="number">{shown}</td>'
    if isinstance(value, Number):
        kind = f"number {value.kind}".rstrip()
        order = json.dumps(value.sort)  # "Infinity", as a script reads it
        return f'<td class="{kind}" data-sort="{order}">{text(value.shown)}</td>'
    return f"<td>{text('' if value is None else value)}</td>"


class Html:
    """What is markup already."""

    def __init__(self, markup: str) -> None:
        self.markup = markup


class Number:
    """A number that is shown in a way of its own, such as 12.5%; good, bad, or not."""

    def __init__(self, sort: float, shown: str, kind: str = "") -> None:
        self.sort, self.shown, self.kind = sort, shown, kind


def share(value: float | None) -> Number | None:
    return None if value is None else Number(value, f"{value:.1%}")


def table(
    caption: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[object]],
    attributes: Iterable[str] = (),
) -> str:
    """A table that can be sorted; a column that starts with `>` has numbers.

    attributes -- of each row, as HTML
    """
    heads = "".join(
        f'<th class="number">{text(name[1:])}</th>'
        if name.startswith(">")
        else f"<th>{text(name)}</th>"
        for name in columns
    )
    given = iter(attributes)
    lines = [f"<tr {next(given, '')}>{''.join(map(cell, row))}</tr>" for row in rows]
    return "\n".join(
        [
            f'<div class="wide"><table><caption>{text(caption)}</caption>',
            f"<thead><tr>{heads}</tr></thead><tbody>",
            *lines,
            "</tbody></table></div>",
        ]
    )


def facts(pairs: Mapping[str, str]) -> str:
    """Names and values, as a list."""
    items = (
        f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>"
        for name, value in pairs.items()
    )
    return f"<dl>{''.join(items)}</dl>"


def short(name: str) -> str:
    """An operator, or a tensor that an instruction makes, for where room is scarce."""
    maker, at, index = name.partition(", instruction ")
    operator = maker.rpartition("::")[2].removesuffix(".out").removesuffix(".default")
    return f"{operator} {index.partition(' ')[0]}" if at else operator


def ticks(most: float, wanted: int = 5, *, binary: bool = False) -> list[int]:
    """Round numbers from 0 up to `most`: about so many, powers of two for bytes."""
    if most < 1:
        return [0]
    raw = most / wanted
    if binary:
        step = 2 ** max(0, math.ceil(math.log2(raw)))
    else:
        power = 10 ** max(0, math.floor(math.log10(raw)))
        step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    return list(range(0, math.floor(most) + 1, int(step)))


def fitting(words: str, width: float, size: float = 11) -> str:
    """`words`, or their beginning, in so many units of a picture; else nothing."""
    count = int((width - 6) / (size * 0.56))
    if len(words) <= count:
        return words
    return f"{words[: count - 1]}\u2026" if count >= 4 else ""
