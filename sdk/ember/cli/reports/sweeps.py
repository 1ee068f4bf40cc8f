"""Results of sweeps become lines on the console, JSON and HTML pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from ember import output, writing
from ember.cli.reports import pages
from ember.cli.reports.pages import Html, text
from ember.output import counted, plain
from ember.run.baseline import COUNTED
from ember.sweep.history import Course, Difference, Moment, SweepChanges
from ember.sweep.results import PointRow, SweepRun
from ember.sweep.work import STATUSES

_SHOWN = 20  # differences


def show(
    console: Console,
    run: SweepRun,
    rows: Sequence[PointRow],
    changes: SweepChanges | None,
) -> None:
    table = output.table("board", "options", ">passed", ">failed", ">error", ">seconds")
    groups: defaultdict[tuple[str, str], list[PointRow]] = defaultdict(list)
    for row in rows:
        groups[row.board, row.options].append(row)
    for (board, options), members in groups.items():
        counts = [str(count(members, status)) for status in STATUSES]
        seconds = sum(row.result.seconds for row in members)
        table.add_row(plain(board), plain(options), *counts, f"{seconds:.1f}")
    console.print(table)
    if run.ended is None:
        console.print("the run was stopped: `ember sweep` continues it")
    if changes is not None:
        _show_changes(console, changes)


def _show_changes(console: Console, changes: SweepChanges) -> None:
    worse = sum(change.is_worse for change in changes.differences)
    better = len(changes.differences) - worse
    said = f"{worse} worse, {better} better"
    said += (
        f", {changes.new} new, {changes.gone} gone"
        if changes.new or changes.gone
        else ""
    )
    console.print(f"against the baseline: {said}")
    for change in changes.differences[:_SHOWN]:
        color = "red" if change.is_worse else "green"
        place = " ".join(
            filter(None, (change.row.board, change.row.program, change.row.options))
        )
        line = f"[{color}]{'worse' if change.is_worse else 'better':6}[/]"
        console.print(
            f"{line} {plain(f'{place}: {_change_text(change)}')}", soft_wrap=True
        )
    if len(changes.differences) > _SHOWN:
        rest = len(changes.differences) - _SHOWN
        console.print(f"and {counted(rest, 'difference')} more: --html or --json")


def count(rows: Sequence[PointRow], status: str) -> int:
    return sum(row.result.status == status for row in rows)


def _change_text(change: Difference) -> str:
    """A sentence such as "cycles 1,000 -> 1,100 (+10.0 %)"."""
    if isinstance(change.before, int) and isinstance(change.after, int):
        share = "" if change.growth is None else f" ({100 * change.growth:+.1f} %)"
        return f"{change.fact} {change.before:,} -> {change.after:,}{share}"
    return f"{change.fact} {change.before} -> {change.after}"


# ---- JSON ----------------------------------------------------------------------------


def document(
    run: SweepRun,
    rows: Sequence[PointRow],
    changes: SweepChanges | None,
    seconds: float,
) -> dict[str, Any]:
    """The document of `ember sweep --json`: `ember test`'s, with more facts a case."""
    compared = {}
    if changes is not None:
        compared["baseline"] = {
            "differences": [_difference(change) for change in changes.differences],
            "new": changes.new,
            "gone": changes.gone,
        }
    return {
        "run": run.name,
        "finished": run.ended is not None,
        "cases": [_case(row) for row in rows],
        "summary": {status: count(rows, status) for status in STATUSES},
        "seconds": round(seconds, 3),
    } | compared


def _case(row: PointRow) -> dict[str, Any]:
    return {
        "name": row.program,
        "board": row.board,
        "options": row.options,
    } | asdict(row.result)


def _difference(change: Difference) -> dict[str, Any]:
    program, board, options = change.row.place
    place = {"name": program, "board": board, "options": options}
    return place | {
        "fact": change.fact,
        "before": change.before,
        "after": change.after,
        "worse": change.is_worse,
    }


# ---- pages ---------------------------------------------------------------------------


_MOST_BARS = 40
_BAR_WIDTH, _BAR_HEIGHT, _LABELS = 520, 18, 300


def write_sweep(
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
    counts = [f"{count(rows, status)} {status}" for status in STATUSES]
    facts = f"{when}, Ember {run.version}: {', '.join(counts)}."
    facts += "" if run.ended else " It was stopped before its end."
    yield f"<p>{text(facts)}</p>\n"
    if changes is not None:
        yield f"<h2>Against {text(baseline or '')}</h2>\n"
        yield _difference_table(changes)
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


def _difference_table(changes: SweepChanges) -> str:
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
                _change_text(change),
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
    """Cycles if all have them, otherwise instructions; the greatest first."""
    measured = any(row.result.ram is not None for row in rows)
    rows = [row for row in rows if row.result.ram is not None or not measured]
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
        f"<p>{figure.capitalize()} of one execution, {_of_what(measured)}{note}</p>\n"
        '<div class="wide">'
        f'<svg viewBox="0 0 {width} {height}" role="img">{"".join(lines)}</svg></div>\n'
    )


def _of_what(measured: bool) -> str:
    if measured:
        return "as `ember build` makes the program"
    return (
        "of the program as it was exported (with `measure: true`: as `ember build`"
        " makes it)"
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


# ---- figures over sweeps -------------------------------------------------------------


_WIDTH, _HEIGHT, _EDGE = 340, 110, 8


def write_history(path: Path, courses: Sequence[Course]) -> None:
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
    """A plot that begins at 0, with a point for each run."""
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
