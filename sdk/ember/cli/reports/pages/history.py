"""How figures moved becomes one HTML page with a plot of each, without any request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ember import writing
from ember.cli.reports import pages
from ember.cli.reports.pages import text
from ember.run.baseline import COUNTED
from ember.sweep.history import Course, Moment

_WIDTH, _HEIGHT, _EDGE = 340, 110, 8


def write(path: Path, courses: Sequence[Course]) -> None:
    body = [*map(_course, courses)] or ["<p>Nothing has changed.</p>"]
    page = pages.page("History", ["<h1>History</h1>", *body])
    writing.write(path, page.encode())


def _course(course: Course) -> str:
    title = " ".join(filter(None, (course.program, course.board, course.options)))
    plots = "".join(_plots(course))
    return f'<h2>{text(title)}</h2>\n<div class="plots">{plots}</div>\n'


def _plots(course: Course) -> Iterator[str]:
    for name in COUNTED:
        pairs = zip(course.moments, course.figures(name), strict=True)
        known = [
            (place, moment, value)
            for place, (moment, value) in enumerate(pairs)
            if value is not None
        ]
        if known:
            first, last = known[0][2], known[-1][2]
            caption = f"{name}: {first:,} → {last:,}" if first != last else name
            yield (
                f'<figure><svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
                f' width="{_WIDTH}" role="img">'
                f"{_line(course.changes, known)}</svg><figcaption>"
                f"{text(caption)}</figcaption></figure>\n"
            )


def _line(
    changes: Sequence[tuple[str, ...]], known: Sequence[tuple[int, Moment, int]]
) -> str:
    """Points at the places of their runs, in a plot that begins at 0."""
    most = max(1, *(value for _, _, value in known))
    step = (_WIDTH - 2 * _EDGE) / max(1, len(changes) - 1)
    high = _HEIGHT - 2 * _EDGE
    places = [
        (_EDGE + place * step, _EDGE + high * (1 - value / most))
        for place, _, value in known
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    marks = (
        _mark(x, y, value, moment, changes[place])
        for (x, y), (place, moment, value) in zip(places, known, strict=True)
    )
    return f'<polyline points="{line}"/>{"".join(marks)}'


def _mark(
    x: float, y: float, value: int, moment: Moment, changes: tuple[str, ...]
) -> str:
    kind = "" if moment.result.status == "passed" else ' class="wrong"'
    new = f" (other {' and '.join(changes)})" if changes else ""
    title = text(f"{moment.run.name}{new}: {value:,}")
    return (
        f'<circle{kind} cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{title}</title></circle>'
    )
