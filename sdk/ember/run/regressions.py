"""Outcomes and a baseline become outcomes that failed where something got worse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ember import build
from ember.errors import SdkError
from ember.run import baseline
from ember.run.baseline import Baseline, FigureChange, Figures
from ember.run.testing import Outcome


@dataclass
class Regressions:
    """What was measured, and how it stands beside the baseline."""

    stored: Baseline
    allowed: float = 0.0  # growth that is no regression, as a share
    measured: dict[str, dict[str, Figures]] = field(default_factory=dict)
    changes: list[FigureChange] = field(default_factory=list)
    unknown: list[Outcome] = field(default_factory=list)  # not in the baseline
    unmeasured: int = 0  # cases that passed, but have no figures

    def check(
        self,
        results: Iterable[Outcome],
        options: build.Options,
        timeout_s: float | None = None,
    ) -> list[Outcome]:
        """Measure what passed; what got worse has failed."""
        return [
            self._checked(outcome, options, timeout_s)
            if outcome.status == "passed"
            else outcome
            for outcome in results
        ]

    def _checked(
        self, outcome: Outcome, options: build.Options, timeout_s: float | None
    ) -> Outcome:
        try:
            now = baseline.measure(outcome, options, timeout_s)
        except SdkError as error:
            self.unmeasured += 1
            what = " ".join(error.what.split())
            return replace(outcome, status="error", message=f"not measured: {what}")
        self.measured.setdefault(outcome.board, {})[outcome.name] = now
        then = self.stored.get(outcome.board, {}).get(outcome.name)
        if then is None:
            self.unknown.append(outcome)
            return outcome
        compared = baseline.compare(outcome, then, now, self.allowed)
        self.changes += compared.changes
        if not compared.message:
            return outcome
        return replace(outcome, status="failed", message=compared.message)

    def to_json(self) -> dict[str, Any]:
        return {
            "changes": [
                {
                    "board": change.board,
                    "case": change.case,
                    "figure": change.figure,
                    "before": change.before,
                    "after": change.after,
                    "node": change.node or None,
                }
                for change in self.changes
            ],
            "unknown": [
                {"board": outcome.board, "case": outcome.name}
                for outcome in self.unknown
            ],
        }
