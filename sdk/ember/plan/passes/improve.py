"""A packed model becomes a smaller one, by the passes that pay and change no result.

A pass proposes programs. One is taken if it needs no more memory, grows the constants
by no more than the memory that it saves, and gives the same bits as the program as it
was read, run on the host; `batch_norm` the same within a stated rounding. Results are
cached on disk, by the content that they depend on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ember import files, kept, paths, program
from ember.errors import SdkError
from ember.kernels import KernelList
from ember.model import Model
from ember.plan.passes import (
    FED,
    ROUNDED,
    PassOutcome,
    batch_norm,
    calls,
    execute,
    fold,
    in_place,
    join,
    layout,
    order,
    rows,
)
from ember.plan.passes.execute import Computer, Executable, Scenario
from ember.plan.replan import replan, trimmed
from ember.program import Method, Program
from ember.program.edit import Draft, draft, with_frames

Propose = Callable[[Draft, Computer, frozenset[int]], list[Draft]]
ALL: Mapping[str, Propose] = {
    ROUNDED: batch_norm.apply,
    "fold": fold.exact,
    "fold_inexact": fold.inexact,
    "scratch": calls.scratch,
    "unread": calls.unread,
    "update": in_place.update,
    "channels": layout.channels_last,
    "view": join.views,
    "layout": layout.states,
    "order": order.apply,
    "rows": rows.apply,
    "rows_fed": rows.for_feeding,
    "concat": join.concat,
    "weights": calls.weights,
    "in_place": in_place.apply,
}
# These pay in time, and in scratch of kernels.
_FASTER = frozenset({"channels", "unread", "weights"})
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
    entry = CacheEntry.of(here, reference, work.runs, names, keep)
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
        """The pass that rounds first, compared within that; then the others, which give
        the same bits as what it made."""
        if ROUNDED not in names:
            return self._exactly(names)
        others = [name for name in names if name != ROUNDED]
        now, outcome = self._apply(ROUNDED, self.start)
        if now is self.start:
            after, outcomes = self._exactly(others)
            return after, (outcome, *outcomes)
        verdict = self._verdict(self.reference, now, execute.ROUNDING)
        if verdict != "same":
            after, outcomes = self._exactly(others)
            dropped = PassOutcome(ROUNDED, "dropped", reason=_REASONS[verdict])
            return after, (dropped, *outcomes)
        rounded = replace(self, start=now, reference=Executable.of(now.program))
        after, outcomes = rounded._exactly(others)
        return after, (outcome, *outcomes)

    def _exactly(self, names: Sequence[str]) -> Found:
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

    def _verdict(
        self, old: Executable, new: Draft, rounding: float = 0.0
    ) -> execute.Verdict:
        return execute.compare(
            self.here, old, Executable.of(new.program), self.runs, rounding
        )

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
        return replace(candidate, program=trimmed(whole))


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


# ---- results on disk -----------------------------------------------------------------


_KEPT = 64  # entries


@dataclass(frozen=True)
class CacheEntry:
    """A program, and a file of facts beside it."""

    place: Path  # without suffix

    @staticmethod
    def of(
        here: Computer,
        reference: Executable,
        runs: Sequence[Scenario],
        names: Sequence[str],
        keep: frozenset[int],
    ) -> CacheEntry:
        digest = hashlib.sha256(here.firmware.name.encode())
        digest.update(kept.modules_digest())
        for record in here.records([(reference, scenario) for scenario in runs]):
            of_record = hashlib.sha256()
            for piece in record:
                of_record.update(piece)
            digest.update(of_record.digest())
        scratch = [
            {name: sorted(sizes.items()) for name, sizes in by_name.items()}
            for by_name in (here.scratch, here.sided)
        ]
        digest.update(json.dumps([list(names), sorted(keep), scratch]).encode())
        folder = paths.writable_folder(paths.cache() / "passes")
        return CacheEntry(folder / digest.hexdigest()[:32])

    def read(self, start: Draft) -> tuple[Draft, tuple[PassOutcome, ...]] | None:
        """What passes made of `start`: itself, where none helped."""
        try:
            if not kept.found(self._facts):
                return None
            facts = files.read_json(self._facts)
            outcomes = tuple(PassOutcome(**fields) for fields in facts["outcomes"])
            if facts["origins"] is None:
                return start, outcomes
            if not kept.found(self._program):
                return None
            packed = program.read(self._program)
            origins = {
                name: tuple(numbers) for name, numbers in facts["origins"].items()
            }
        except (OSError, SdkError, ValueError, KeyError, TypeError):
            return None
        return with_frames(Draft(packed, origins), start), outcomes

    def write(
        self, start: Draft, draft: Draft, outcomes: Sequence[PassOutcome]
    ) -> None:
        changed = draft is not start
        facts = {
            "origins": draft.origins if changed else None,
            "outcomes": [asdict(outcome) for outcome in outcomes],
        }
        if changed:
            kept.write(self._program, program.content(draft.program))
        kept.write(self._facts, json.dumps(facts).encode())
        for suffix in (self._program.suffix, self._facts.suffix):
            kept.forget_old(self.place.parent.glob(f"*{suffix}"), _KEPT)

    @property
    def _program(self) -> Path:
        return self.place.with_suffix(".pte")

    @property
    def _facts(self) -> Path:
        return self.place.with_suffix(".json")
