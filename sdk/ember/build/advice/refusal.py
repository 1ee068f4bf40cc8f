"""An estimate that does not fit becomes the error of `ember build`, `pack` and `plan`.

It says which memory lacks how much, and what would fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ember.build.advice import helps
from ember.build.estimate import Estimate
from ember.errors import problem_list
from ember.plan.improved import Chosen
from ember.toolchain import linker
from ember.toolchain.linker import DoesNotFitError

_PIECES, _BOARDS = 3, 5


class TooSmallError(DoesNotFitError):
    """Models do not fit a board: `shortages` say what lacks room."""

    def __init__(self, facts: Mapping[str, Any], names: str) -> None:
        super().__init__(what(facts, names), hint=hint(facts))
        self.shortages: list[dict[str, Any]] = facts["shortages"]


def error(
    estimate: Estimate, pairs: Sequence[Chosen], *, prepared: bool = True
) -> TooSmallError:
    """The error of an estimate; possible remedies are tried now.

    `prepared` says whether the command has that option.
    """
    names = ", ".join(model.name for model, _ in pairs)
    return TooSmallError(of(estimate, pairs, prepared=prepared), names)


def of(
    estimate: Estimate, pairs: Sequence[Chosen], *, prepared: bool = True
) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "board": estimate.job.board.name,
        "fits": False,
        "over": estimate.over,
        "shortages": [shortage.to_json() for shortage in estimate.shortages],
        "helps": [
            help_.to_json() for help_ in helps.tried(estimate, pairs, prepared=prepared)
        ],
        "boards_that_fit": helps.boards_that_fit(estimate, pairs),
        "largest": helps.largest(pairs),
    }


def what(facts: Mapping[str, Any], names: str) -> str:
    problems = [_lacking(shortage) for shortage in facts["shortages"]]
    return problem_list(f"{names} does not fit {facts['board']}", problems)


def _lacking(shortage: Mapping[str, Any]) -> str:
    rows = [f"{name} {size:,}" for name, size in shortage["pieces"].items()]
    more = ", .." if len(rows) > _PIECES else ""
    text = linker.lacking(shortage["memory"], shortage["needed"], shortage["capacity"])
    return f"{text} ({', '.join(rows[:_PIECES])}{more})"


def hint(facts: Mapping[str, Any]) -> str:
    """What would fit: options first, then boards, then what is largest."""
    return "\n  ".join(advice(facts))


def advice(facts: Mapping[str, Any]) -> list[str]:
    lines = [str(helps.Help(**facts_of_help)) for facts_of_help in facts["helps"]]
    fitting = facts["boards_that_fit"]
    more = f", and {len(fitting) - _BOARDS} more" if len(fitting) > _BOARDS else ""
    names = ", ".join(fitting[:_BOARDS]) + more
    lines.append(f"boards with enough memory: {names or 'none known'}")
    for kind, rows in facts["largest"].items():
        if rows:
            sizes = "; ".join(f"{name} {size:,} bytes" for name, size in rows.items())
            lines.append(f"largest {kind}: {sizes}")
    return lines
