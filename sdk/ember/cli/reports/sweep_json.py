"""What a sweep gave becomes the JSON of `ember test`, with more facts of each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ember.cli.reports import sweep_table
from ember.sweep.compared import Difference, SweepChanges
from ember.sweep.results import PointRow, SweepRun


def document(
    run: SweepRun,
    rows: Sequence[PointRow],
    changes: SweepChanges | None,
    seconds: float,
) -> dict[str, Any]:
    """What `ember sweep --json` promises."""
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
        "summary": {
            status: sweep_table.count(rows, status) for status in sweep_table.STATUSES
        },
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
