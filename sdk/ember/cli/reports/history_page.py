"""How figures moved becomes one HTML page with a plot of each, without any request."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path

from ember import writing
from ember.run.baseline import COUNTED
from ember.sweep.history import Course, Moment

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
section { display: flex; flex-wrap: wrap; gap: 1rem }
figure { margin: 0 }
figcaption { font-size: .9em }
svg { max-width: 100%; height: auto; border-bottom: 1px solid #8886 }
polyline { fill: none; stroke: #4a7fb5; stroke-width: 2 }
circle { fill: #4a7fb5 }
.wrong { fill: #c33 }
@media (prefers-color-scheme: dark) { polyline { stroke: #7fb0e0 }
  circle { fill: #7fb0e0 } .wrong { fill: #f88 } }
"""
_WIDTH, _HEIGHT, _EDGE = 340, 110, 8


def write(path: Path, courses: Sequence[Course]) -> None:
    text = (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>History</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style>\n<h1>History</h1>\n"
        f"{''.join(map(_course, courses)) or '<p>Nothing has changed.</p>'}</html>\n"
    )
    writing.write(path, text.encode())


def _course(course: Course) -> str:
    title = " ".join(filter(None, (course.program, course.board, course.options)))
    plots = "".join(_plots(course))
    return f"<h2>{html.escape(title)}</h2>\n<section>{plots}</section>\n"


def _plots(course: Course) -> Iterator[str]:
    for name in COUNTED:
        pairs = zip(course.moments, course.figures(name), strict=True)
        known = [
            (place, moment, value)
            for place, (moment, value) in enumerate(pairs)
            if value
        ]
        if known:
            first, last = known[0][2], known[-1][2]
            caption = f"{name}: {first:,} → {last:,}" if first != last else name
            yield (
                f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}"'
                f' role="img">{_line(len(course.moments), known)}</svg>'
                f"<figcaption>{html.escape(caption)}</figcaption></figure>\n"
            )


def _line(runs: int, known: Sequence[tuple[int, Moment, int]]) -> str:
    """Points at the places of their runs, in a plot that begins at 0."""
    most = max(value for _, _, value in known)
    step = (_WIDTH - 2 * _EDGE) / max(1, runs - 1)
    high = _HEIGHT - 2 * _EDGE
    places = [
        (_EDGE + place * step, _EDGE + high * (1 - value / most))
        for place, _, value in known
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    marks = (
        _mark(x, y, value, moment)
        for (x, y), (_, moment, value) in zip(places, known, strict=True)
    )
    return f'<polyline points="{line}"/>{"".join(marks)}'


def _mark(x: float, y: float, value: int, moment: Moment) -> str:
    kind = "" if moment.result.status == "passed" else ' class="wrong"'
    title = html.escape(f"{moment.run.name}: {value:,}")
    return (
        f'<circle{kind} cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{title}</title></circle>'
    )
