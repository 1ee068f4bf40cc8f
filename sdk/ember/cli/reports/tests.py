"""Results of `ember test` become a JUnit report, or Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from ember import output
from ember.run import testing
from ember.run.baseline import COUNTED, Baseline, FigureChange
from ember.run.testing import Outcome

# ---- JUnit: one suite a board --------------------------------------------------------


_ELEMENTS = {"failed": "failure", "error": "error"}


def write_junit(results: Sequence[Outcome], seconds: float, path: Path) -> None:
    text = ET.tostring(junit(results, seconds), encoding="unicode")
    output.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n', path)


def junit(results: Sequence[Outcome], seconds: float) -> ET.Element:
    boards = list(dict.fromkeys(outcome.board for outcome in results))
    root = ET.Element("testsuites", _counts(results), time=f"{seconds:.3f}")
    for board in boards:
        mine = [outcome for outcome in results if outcome.board == board]
        suite = ET.SubElement(root, "testsuite", _counts(mine), name=board)
        for outcome in mine:
            _case(suite, outcome)
    return root


def _counts(results: Sequence[Outcome]) -> dict[str, str]:
    statuses = [outcome.status for outcome in results]
    return {
        "tests": str(len(statuses)),
        "failures": str(statuses.count("failed")),
        "errors": str(statuses.count("error")),
    }


def _case(suite: ET.Element, outcome: Outcome) -> None:
    case = ET.SubElement(suite, "testcase", name=outcome.name, classname=outcome.board)
    if outcome.status == "passed":
        return
    problem = ET.SubElement(
        case, _ELEMENTS[outcome.status], message=_xml(outcome.message)
    )
    problem.text = _xml(f"{outcome.message}\nagain: {outcome.again}")


def _xml(text: str) -> str:
    """Text without control characters, which XML forbids."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


# ---- Markdown ------------------------------------------------------------------------


_MOST = 200  # rows of a table: pages of services have a limit


def write_summary(
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
    return f"### Against the baseline\n\n{table}" if table else ""


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
