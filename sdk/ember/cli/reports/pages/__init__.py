"""Facts become self-contained HTML pages, for light and dark screens and for paper.

page() is the frame that all pages share; page.css is its style, page.js its behaviour.
An element with `data-key` lights up, together with all elements of that key or with
that `data-group`, when the pointer is over it; `data-tip` is the text that then shows.
A link to a section of class `details` shows it below the page and lights up the
elements whose `data-node` is its id.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ember.quoted import html

_FOLDER = Path(__file__).parent
_SHORT = 10  # characters; a longer text may be folded
_MOST_COLOURS = 12  # in a legend
_GOLDEN = 137.5  # degrees: neighbours get unlike hues
text = html  # what every page writes words with
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(title: str, body: Iterable[str]) -> str:
    """A whole page. `title` is plain text, `body` is HTML."""
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


def tip(*lines: object) -> str:
    """Lines of plain text as the attribute that the pointer shows."""
    return f'data-tip="{"&#10;".join(text(line) for line in lines)}"'


def hue(number: int) -> str:
    """The colour of the number-th of several things, as a style."""
    return f"--hue:{number * _GOLDEN % 360:g}"


def swatch(number: int, name: str) -> str:
    """A square in a colour of hue(), and what it stands for."""
    square = f'<i class="swatch" style="{hue(number)}"></i>'
    return f'<span class="named">{square}{text(name)}</span>'


def legend(names: Sequence[str]) -> str:
    """A legend of a picture whose colours are hue() of the positions of names."""
    parts = [swatch(number, name) for number, name in enumerate(names[:_MOST_COLOURS])]
    if len(names) > _MOST_COLOURS:
        parts.append(f"and {len(names) - _MOST_COLOURS} more, as in the table")
    return f'<p class="legend">{" ".join(parts)}</p>'


def cell(value: object) -> str:
    """A table cell: integers with separators, None empty, Html as it is."""
    if isinstance(value, Html):
        return f"<td>{value.markup}</td>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
        return f'<td class="number">{shown}</td>'
    if isinstance(value, Number):
        kind = f"number {value.kind}".rstrip()
        order = json.dumps(value.sort)  # "Infinity", as a script reads it
        return f'<td class="{kind}" data-sort="{order}">{text(value.shown)}</td>'
    shown = text("" if value is None else value)
    kind = ' class="name"' if len(shown) > _SHORT else ""
    return f"<td{kind}>{shown}</td>"


class Html:
    """A string that is HTML already."""

    def __init__(self, markup: str) -> None:
        self.markup = markup


class Number:
    """A number with its own text, such as 12.5 %, marked good, bad, or neither."""

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
    """A short name for an operator, or for the tensor of an instruction."""
    maker, at, index = name.partition(", instruction ")
    operator = maker.rpartition("::")[2].removesuffix(".out").removesuffix(".default")
    return f"{operator} {index.partition(' ')[0]}" if at else operator


def ticks(most: float, wanted: int = 5, *, binary: bool = False) -> list[int]:
    """About `wanted` round numbers from 0 to `most`; powers of two for bytes."""
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
    """As much of `words` as fits a width in units of a picture, or nothing."""
    count = int((width - 6) / (size * 0.56))
    if len(words) <= count:
        return words
    return f"{words[: count - 1]}\u2026" if count >= 4 else ""
