"""Results of passes are kept in the cache folder, by the content they depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ember import kept, paths, program, writing
from ember.errors import SdkError
from ember.files import documents
from ember.plan.passes.edit import Draft
from ember.plan.passes.execute import Computer, Executable, Scenario
from ember.plan.passes.outcome import PassOutcome

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
            facts = documents.read_json(self._facts)
            outcomes = tuple(PassOutcome(**fields) for fields in facts["outcomes"])
            if facts["origins"] is None:
                return start, outcomes
            packed = program.read(self._program)
            origins = {
                name: tuple(numbers) for name, numbers in facts["origins"].items()
            }
        except (OSError, SdkError, ValueError, KeyError, TypeError):
            return None
        return Draft(packed, origins), outcomes

    def write(
        self, start: Draft, draft: Draft, outcomes: Sequence[PassOutcome]
    ) -> None:
        changed = draft is not start
        facts = {
            "origins": draft.origins if changed else None,
            "outcomes": [asdict(outcome) for outcome in outcomes],
        }
        if changed:
            writing.write(self._program, program.content(draft.program))
        writing.write(self._facts, json.dumps(facts).encode())
        for suffix in (self._program.suffix, self._facts.suffix):
            kept.forget_old(self.place.parent.glob(f"*{suffix}"), _KEPT)

    @property
    def _program(self) -> Path:
        return self.place.with_suffix(".pte")

    @property
    def _facts(self) -> Path:
        return self.place.with_suffix(".json")
