"""What passes found is kept in the cache folder, by the content it depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ember import paths, program, writing
from ember.errors import SdkError
from ember.files import documents
from ember.plan.passes.edit import Draft
from ember.plan.passes.execute import Computer, Scenario
from ember.plan.passes.outcome import Outcome

_KEPT = 64  # entries


@dataclass(frozen=True)
class Entry:
    """A program, and a file of facts beside it."""

    place: Path  # without suffix

    @staticmethod
    def of(
        here: Computer,
        start: Draft,
        runs: Sequence[Scenario],
        names: Sequence[str],
        keep: frozenset[int],
    ) -> Entry:
        digest = hashlib.sha256(here.firmware.name.encode())
        digest.update(_code())
        for record in here.records([(start.program, one) for one in runs]):
            of_record = hashlib.sha256()
            for piece in record:
                of_record.update(piece)
            digest.update(of_record.digest())
        digest.update(json.dumps([list(names), sorted(keep)]).encode())
        folder = paths.writable_folder(paths.cache() / "passes")
        return Entry(folder / digest.hexdigest()[:32])

    def read(self) -> tuple[Draft, tuple[Outcome, ...]] | None:
        try:
            facts = documents.read_json(self._facts)
            one = program.read(self._program)
            origins = {name: tuple(own) for name, own in facts["origins"].items()}
            outcomes = tuple(Outcome(**fields) for fields in facts["outcomes"])
        except (OSError, SdkError, ValueError, KeyError, TypeError):
            return None
        return Draft(one, origins), outcomes

    def write(self, draft: Draft, outcomes: Sequence[Outcome]) -> None:
        facts = {
            "origins": draft.origins,
            "outcomes": [asdict(one) for one in outcomes],
        }
        writing.write(self._program, program.content(draft.program))
        writing.write(self._facts, json.dumps(facts).encode())
        _forget_old(self.place.parent)

    @property
    def _program(self) -> Path:
        return self.place.with_suffix(".pte")

    @property
    def _facts(self) -> Path:
        return self.place.with_suffix(".json")


def _code() -> bytes:
    """A hash of what decides about programs."""
    digest = hashlib.sha256()
    for path in sorted(paths.package().rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def _forget_old(folder: Path) -> None:
    def age(one: Path) -> float:
        try:
            return one.stat().st_mtime
        except FileNotFoundError:  # another process forgot it
            return 0

    for old in sorted(folder.glob("*.json"), key=age)[:-_KEPT]:
        old.with_suffix(".pte").unlink(missing_ok=True)
        old.unlink(missing_ok=True)
