"""What a sweep gave becomes one HTML page without any request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ember import writing
from ember.cli.reports import pages, sweep_table
from ember.cli.reports.pages import Html, text
from ember.output import counted
from ember.run.baseline import COUNTED
from ember.sweep.compared import SweepChanges
from ember.sweep.results import PointRow, SweepRun

_MOST_BARS = 40
_BAR_WIDTH, _BAR_HEIGHT, _LABELS = 520, 18, 300


def write(
    path: Path,
    run: SweepRun,
    rows: Sequence[PointRow],
    baseline: str | None,
    changes: SweepChanges | None,
) -> None:
    title = f"Sweep {run.name}"
    body = [f"<h1>{text(title)}</h1>", *_parts(run, rows, baseline, changes)]
    writing.write(path, pages.page(title, body).encode())


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
    yield f"<p>{text(facts)}</p>\n"
    if changes is not None:
        yield f"<h2>Against {text(baseline or '')}</h2>\n"
        yield _differences(changes)
    wrong = [row for row in rows if row.result.status != "passed"]
    if wrong:
        yield "<h2>What did not pass</h2>\n" + pages.table(
            counted(len(wrong), "point"),
            ("program", "board", "options", "", "message"),
            map(_wrong, wrong),
        )
    for board in dict.fromkeys(row.board for row in rows):
        members = [row for row in rows if row.board == board]
        yield f"<h2>{text(board)}</h2>\n{_bars(members)}{_figures(members)}"


def _differences(changes: SweepChanges) -> str:
    if not changes.differences:
        return "<p>Nothing differs.</p>\n"
    heads = ("program", "board", "options", "", "what")
    return pages.table(
        counted(len(changes.differences), "difference"),
        heads,
        (
            [
                *change.row.place,
                _marked("worse" if change.is_worse else "better"),
                sweep_table.text(change),
            ]
            for change in changes.differences
        ),
    )


def _wrong(row: PointRow) -> list[object]:
    return [*row.place, _marked(row.result.status), row.result.message]


def _figures(rows: Sequence[PointRow]) -> str:
    heads = ("program", "options", "", *(f">{name}" for name in COUNTED))
    return pages.table(
        counted(len(rows), "point"),
        heads,
        (
            [
                *(row.program, row.options),
                _marked(row.result.status),
                *(getattr(row.result, name) for name in COUNTED),
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
        f'<p>{figure.capitalize()} of an execution{note}</p>\n<div class="wide">'
        f'<svg viewBox="0 0 {width} {height}" role="img">{"".join(lines)}</svg></div>\n'
    )


def _bar(place: int, value: int, share: float, row: PointRow) -> str:
    top = place * (_BAR_HEIGHT + 4)
    name = " ".join(filter(None, (row.program, row.options)))
    length = max(1, round(share * _BAR_WIDTH))
    middle = top + _BAR_HEIGHT - 5
    return (
        f'<text x="{_LABELS - 8}" y="{middle}" text-anchor="end">'
        f"{text(name[-44:])}</text>"
        f'<rect class="bar" x="{_LABELS}" y="{top}" width="{length}"'
        f' height="{_BAR_HEIGHT}"><title>{text(name)}: {value:,}</title></rect>'
        f'<text x="{_LABELS + length + 6}" y="{middle}">{value:,}</text>'
    )


def _marked(word: str) -> Html:
    """A verdict in its colour."""
    kind = "good" if word in ("passed", "better") else "bad"
    return Html(f'<span class="{kind}">{text(word)}</span>')
