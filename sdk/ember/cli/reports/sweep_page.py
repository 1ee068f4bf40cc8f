"""What a sweep gave becomes one HTML page without any request."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ember import writing
from ember.cli.reports import sweep_table
from ember.run.baseline import COUNTED
from ember.sweep.compared import SweepChanges
from ember.sweep.results import PointRow, SweepRun

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
div { overflow-x: auto }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem }
th, td { border-bottom: 1px solid #8886; padding: .3rem .6rem; text-align: left }
td.n { text-align: right; font-variant-numeric: tabular-nums }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif }
svg text { fill: currentColor }
.bar { fill: #4a7fb5 }
.failed, .error, .worse { color: #c33 }
.passed, .better { color: #383 }
@media (prefers-color-scheme: dark) { .bar { fill: #7fb0e0 }
  .failed, .error, .worse { color: #f88 } .passed, .better { color: #8c8 } }
"""
_MOST_BARS = 40
_BAR_WIDTH, _BAR_HEIGHT, _LABELS = 520, 18, 300


def write(
    path: Path,
    run: SweepRun,
    rows: Sequence[PointRow],
    baseline: str | None,
    changes: SweepChanges | None,
) -> None:
    body = "".join(_parts(run, rows, baseline, changes))
    title = html.escape(f"Sweep {run.name}")
    text = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style>\n<h1>{title}</h1>\n{body}</html>\n"
    )
    writing.write(path, text.encode())


def _parts(
    run: SweepRun,
    rows: Sequence[PointRow],
    baseline: str | None,
    changes: SweepChanges | None,
) -> Iterator[str]:
    when = datetime.fromtimestamp(run.began, UTC).strftime("%Y-%m-%d %H:%M UTC")
    counts = [
        f"{sweep_table.count(rows, status)} {status}" for status in sweep_table.STATUSES
    ]
    facts = f"{when}, Ember {run.version}: {', '.join(counts)}."
    facts += "" if run.ended else " It was stopped before its end."
    yield f"<p>{html.escape(facts)}</p>\n"
    if changes is not None:
        yield f"<h2>Against {html.escape(baseline or '')}</h2>\n"
        yield _differences(changes)
    wrong = [row for row in rows if row.result.status != "passed"]
    if wrong:
        yield "<h2>What did not pass</h2>\n" + _table(
            ("program", "board", "options", "", "message"), map(_wrong, wrong)
        )
    for board in dict.fromkeys(row.board for row in rows):
        members = [row for row in rows if row.board == board]
        yield f"<h2>{html.escape(board)}</h2>\n{_bars(members)}{_figures(members)}"


def _differences(changes: SweepChanges) -> str:
    if not changes.differences:
        return "<p>Nothing differs.</p>\n"
    heads = ("program", "board", "options", "", "what")
    return _table(
        heads,
        (
            [
                *map(_cell, change.row.place),
                _marked("worse" if change.is_worse else "better"),
                _cell(sweep_table.text(change)),
            ]
            for change in changes.differences
        ),
    )


def _wrong(row: PointRow) -> list[str]:
    place = [_cell(part) for part in row.place]
    return [*place, _marked(row.result.status), _cell(row.result.message)]


def _figures(rows: Sequence[PointRow]) -> str:
    heads = ("program", "options", "", *COUNTED)
    return _table(
        heads,
        (
            [
                *(_cell(row.program), _cell(row.options)),
                _marked(row.result.status),
                *(_number(getattr(row.result, name)) for name in COUNTED),
            ]
            for row in rows
        ),
    )


def _bars(rows: Sequence[PointRow]) -> str:
    """Cycles where all have them, else instructions; the greatest first."""
    known = all(row.result.cycles is not None for row in rows)
    figure = "cycles" if known else "instructions"
    pairs = [(getattr(row.result, figure) or 0, row) for row in rows]
    pairs.sort(key=lambda pair: -pair[0])
    shown = pairs[:_MOST_BARS]
    most = max((value for value, _ in shown), default=0)
    if not most:
        return ""
    height = len(shown) * (_BAR_HEIGHT + 4)
    lines = [
        _bar(place, value, value / most, row)
        for place, (value, row) in enumerate(shown)
    ]
    width = _LABELS + _BAR_WIDTH + 120
    rest = len(pairs) - len(shown)
    note = f", the {_MOST_BARS} that take most" if rest else ""
    return (
        f'<p>{figure.capitalize()} of an execution{note}</p>\n<svg viewBox="0 0 {width}'
        f' {height}" width="{width}" role="img">{"".join(lines)}</svg>\n'
    )


def _bar(place: int, value: int, share: float, row: PointRow) -> str:
    top = place * (_BAR_HEIGHT + 4)
    name = " ".join(filter(None, (row.program, row.options)))
    length = max(1, round(share * _BAR_WIDTH))
    middle = top + _BAR_HEIGHT - 5
    return (
        f'<text x="{_LABELS - 8}" y="{middle}" text-anchor="end">'
        f"{html.escape(name[-44:])}</text>"
        f'<rect class="bar" x="{_LABELS}" y="{top}" width="{length}"'
        f' height="{_BAR_HEIGHT}"><title>{html.escape(name)}: {value:,}</title></rect>'
        f'<text x="{_LABELS + length + 6}" y="{middle}">{value:,}</text>'
    )


# ---- tables --------------------------------------------------------------------------


def _table(heads: Sequence[str], rows: Iterator[list[str]] | map[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<div><table><tr>{head}</tr>\n{body}\n</table></div>\n"


def _cell(text: str) -> str:
    return f"<td>{html.escape(text)}</td>"


def _marked(word: str) -> str:
    return f'<td class="{word}">{word}</td>'


def _number(value: int | None) -> str:
    return f'<td class="n">{"" if value is None else f"{value:,}"}</td>'
