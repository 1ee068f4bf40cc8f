"""Results of `ember test` become a page in Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ember import output
from ember.run import testing
from ember.run.baseline import COUNTED, Baseline, FigureChange
from ember.run.testing import Outcome

_MOST = 200  # rows of a table: pages of services have a limit


def write(
    results: Sequence[Outcome],
    changes: Sequence[FigureChange],
    measured: Baseline,
    path: Path,
) -> None:
    parts = [_head(results), _wrong(results), _changes(changes), _figures(measured)]
    output.write_text("\n".join(part for part in parts if part), path)


def _head(results: Sequence[Outcome]) -> str:
    counts = testing.summary(results)
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"## ember test: {said}\n"


def _wrong(results: Sequence[Outcome]) -> str:
    rows = [
        [outcome.board, outcome.name, outcome.status, outcome.message]
        for outcome in results
        if outcome.status != "passed"
    ]
    return _table(["board", "case", "", "what"], rows)


def _changes(changes: Sequence[FigureChange]) -> str:
    ordered = sorted(changes, key=lambda change: -abs(change.share))
    rows = [
        [
            change.board,
            change.case,
            change.figure,
            f"{change.before:,}",
            f"{change.after:,}",
            f"{100 * change.share:+.1f} %",
            change.node,
        ]
        for change in ordered
    ]
    names = ["board", "case", "figure", "baseline", "now", "change", "most in"]
    table = _table(names, rows)
    return f"### Beside the baseline\n\n{table}" if table else ""


def _figures(measured: Baseline) -> str:
    rows = [
        [board, case, *(_number(getattr(figures, figure)) for figure in COUNTED)]
        for board, cases in measured.items()
        for case, figures in cases.items()
    ]
    table = _table(["board", "case", *COUNTED], rows)
    return f"### Figures\n\n{table}" if table else ""


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [_line(names), _line(["---"] * len(names))]
    lines += [_line(row) for row in rows[:_MOST]]
    if len(rows) > _MOST:
        lines.append(f"\nand {len(rows) - _MOST} more")
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    plain = "".join(c if c.isprintable() else " " for c in text)
    return plain.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
