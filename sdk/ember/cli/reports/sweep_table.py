"""What a sweep gave becomes lines for a person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rich.console import Console

from ember import output
from ember.output import counted, plain
from ember.sweep.compared import Difference, SweepChanges
from ember.sweep.results import PointRow, SweepRun

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
        table.add_row(board, plain(options), *counts, f"{seconds:.1f}")
    console.print(table)
    if run.ended is None:
        console.print("the run was stopped: `ember sweep` goes on with it")
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
        console.print(f"{line} {plain(place)}: {text(change)}", soft_wrap=True)
    if len(changes.differences) > _SHOWN:
        rest = len(changes.differences) - _SHOWN
        console.print(f"and {counted(rest, 'difference')} more: --html or --json")


STATUSES = ("passed", "failed", "error")


def count(rows: Sequence[PointRow], status: str) -> int:
    return sum(row.result.status == status for row in rows)


def text(change: Difference) -> str:
    """Such as: cycles 1,000 -> 1,100 (+10.0 %)."""
    if isinstance(change.before, int) and isinstance(change.after, int):
        share = "" if change.growth is None else f" ({100 * change.growth:+.1f} %)"
        return f"{change.fact} {change.before:,} -> {change.after:,}{share}"
    return f"{change.fact} {change.before} -> {change.after}"
