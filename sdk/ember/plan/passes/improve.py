"""A packed model becomes a smaller one, by the passes that pay and change no result.

A pass proposes programs. One is taken when it needs no more memory, grows the constants
by no more than the memory that it saves, and gives the same bits as the program that
was read, run on this computer. Results are kept in the cache folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ember.kernels import KernelList
from ember.model import Model
from ember.plan import trim
from ember.plan.passes import (
    FED,
    cache,
    channels,
    execute,
    fold,
    in_place,
    join,
    layout,
    order,
    rows,
    scratch,
    update,
    weights,
)
from ember.plan.passes.edit import Draft, draft
from ember.plan.passes.execute import Computer, Executable
from ember.plan.passes.outcome import PassOutcome
from ember.plan.replan import replan
from ember.program import Method, Program

Propose = Callable[[Draft, Computer, frozenset[int]], list[Draft]]
ALL: Mapping[str, Propose] = {
    "fold": fold.exact,
    "fold_inexact": fold.inexact,
    "scratch": scratch.apply,
    "update": update.apply,
    "channels": channels.apply,
    "view": join.views,
    "layout": layout.apply,
    "order": order.apply,
    "rows": rows.apply,
    "rows_fed": rows.for_feeding,
    "concat": join.concat,
    "weights": weights.apply,
    "in_place": in_place.apply,
}
_FASTER = frozenset({"channels", "weights"})  # pay in time, and in scratch of kernels
_REASONS = {
    "different": "the results differ",
    "unknown": "the host cannot run the program to compare results",
}


@dataclass(frozen=True)
class Passed:
    draft: Draft
    outcomes: tuple[PassOutcome, ...]


def improve(
    model: Model,
    packed: Program,
    reference: Executable,
    here: Computer,
    names: Sequence[str],
    keep: frozenset[int],
) -> Passed:
    """The program of a model, as it was `packed`, after the passes `names`. Its results
    must be those of `reference`. Planned memories with the ids of `keep` stay."""
    start = draft(packed)
    if not names or not all(_is_free(method, here.known) for method in packed.methods):
        return Passed(start, ())
    work = _Work(start, reference, here, keep, execute.scenarios(model))
    entry = cache.CacheEntry.of(here, reference, work.runs, names, keep)
    cached = entry.read(start)
    if cached is None:
        cached = work.improve(names)
        entry.write(start, *cached)
    return Passed(*cached)


def _is_free(method: Method, known: KernelList) -> bool:
    """Whether calls may get other indices: random numbers depend on them."""
    random = any(
        known.operators[operator].is_random for operator in method.operator_names
    )
    return len(method.chains) == 1 and not random


Found = tuple[Draft, tuple[PassOutcome, ...]]


@dataclass(frozen=True)
class _Work:
    start: Draft
    reference: Executable  # computes what the start does
    here: Computer
    keep: frozenset[int]
    runs: Sequence[execute.Scenario]

    def improve(self, names: Sequence[str]) -> Found:
        """All passes in a row, compared once; one by one if the results differ."""
        now, outcomes = self.start, list[PassOutcome]()
        for name in names:
            now, outcome = self._apply(name, now)
            outcomes.append(outcome)
        if now is self.start or self._verdict(self.reference, now) == "same":
            return now, tuple(outcomes)
        return self._one_by_one(names)

    def _one_by_one(self, names: Sequence[str]) -> Found:
        now, outcomes = self.start, list[PassOutcome]()
        for name in names:
            before = self.reference if now is self.start else Executable.of(now.program)
            better, outcome = self._apply(name, now)
            verdict = "same" if better is now else self._verdict(before, better)
            if verdict == "same":
                now = better
            else:
                outcome = PassOutcome(name, "dropped", reason=_REASONS[verdict])
            outcomes.append(outcome)
        return now, tuple(outcomes)

    def _verdict(self, old: Executable, new: Draft) -> execute.Verdict:
        return execute.compare(self.here, old, Executable.of(new.program), self.runs)

    def _apply(self, name: str, now: Draft) -> tuple[Draft, PassOutcome]:
        """The draft after a pass; the same one when no proposal pays."""
        before = _sizes(now.program)
        for candidate in ALL[name](now, self.here, self.keep):
            packed = self._packed(candidate)
            after = _sizes(packed.program)
            saved = before.planned - after.planned
            shrunk = before.constants - after.constants
            gone = before.instructions - after.instructions
            gains = saved > 0 or shrunk > 0 or gone > 0 or name in _FASTER
            pays = gains and saved >= 0 and saved + shrunk >= 0
            if pays or name == FED:  # which pays where the input has gone
                return packed, PassOutcome(name, "used", saved, shrunk, gone)
        return now, PassOutcome(name, "idle")

    def _packed(self, candidate: Draft) -> Draft:
        """The draft as it would be written."""
        plans = [
            replan(method, self.here.known, self.keep, check=False)
            for method in candidate.program.methods
        ]
        whole = replace(candidate.program, methods=tuple(plan.method for plan in plans))
        return replace(candidate, program=trim.trimmed(whole))


@dataclass(frozen=True)
class _Sizes:
    planned: int
    constants: int
    instructions: int


def _sizes(program: Program) -> _Sizes:
    return _Sizes(
        planned=sum(method.planned_bytes for method in program.methods),
        constants=sum(map(len, program.constants)),
        instructions=sum(len(method.instructions) for method in program.methods),
    )
