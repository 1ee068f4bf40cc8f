# SPDX-License-Identifier: Apache-2.0
"""All passes: they never change a result, and what they brought is kept."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import committed
import numpy as np
import pytest
from committed_cases import matching
from small_programs import KNOWN, here, linear

from ember import boards, cases, program
from ember import model as models
from ember.cases import batch
from ember.errors import UsageError
from ember.files.tensors import DType
from ember.firmware.repack import repack
from ember.plan import passes
from ember.plan.passes import execute, fold, improve
from ember.plan.passes.execute import Computer
from ember.program import edit
from ember.run import testing


def test_no_pass_changes_nothing() -> None:
    improved = repack(linear(), KNOWN)
    assert len(improved.program.methods[0].instructions) == 2
    assert improved.passes == ()
    assert improved.origins == {"forward": (0, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.broad)])
def test_committed_programs_compute_the_same_after_all_passes(
    share: int, tmp_path: Path
) -> None:
    """One of so many programs."""
    dropped: list[str] = []
    unused: list[int] = []
    used = 0
    for path in matching()[::share]:
        folder = committed.copied(path.stem, tmp_path / path.stem)
        improved = repack(models.read(path), KNOWN, passes.NAMES)
        (folder / "model.pte").write_bytes(improved.content)
        assert program.problems(improved.program) == []
        dropped += [
            path.name for outcome in improved.passes if outcome.status == "dropped"
        ]
        used += any(outcome.status == "used" for outcome in improved.passes)
        unused += improved.program.unused_constants()
        for plan in improved.replanned.values():
            assert plan.planned == plan.lower_bound <= plan.stock
    assert (dropped, unused) == ([], [])
    assert used > 60 // share
    case_files = cases.find([tmp_path])
    outcomes = testing.test(case_files, [boards.load("host")], jobs=1)
    assert [f"{o.name}: {o.message}" for o in outcomes if o.status != "passed"] == []
    assert len(outcomes) > 400 // share


@pytest.mark.parametrize(
    ("name", "most"), [("model_encoder", 0.55), ("model_lstm", 0.5)]
)
def test_share_of_the_memory_that_the_exporter_plans(name: str, most: float) -> None:
    cache = os.environ.get("EMBER_CACHE") or Path.home() / ".cache" / "ember"
    path = Path(cache) / "corpus" / name
    if not path.is_dir():
        pytest.skip("tools/export_corpus.py has not been run")
    (plan,) = repack(models.read(path), KNOWN, passes.DEFAULT).replanned.values()
    assert plan.planned == plan.lower_bound <= most * plan.stock


def spoiled(
    draft: edit.Draft, computer: Computer, keep: frozenset[int]
) -> list[edit.Draft]:
    """As fold, with one bit of a constant wrong."""
    wrong = []
    for folded in fold.exact(draft, computer, keep):
        *others, last = folded.program.constants
        last = bytes([last[0], last[1], last[2] ^ 1, *last[3:]])
        program_ = replace(folded.program, constants=(*others, last))
        wrong.append(replace(folded, program=program_))
    return wrong


def test_a_pass_that_changes_a_result_is_dropped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(improve, "ALL", {**improve.ALL, "fold": spoiled})
    monkeypatch.setattr(improve.CacheEntry, "read", lambda *_: None)
    monkeypatch.setattr(improve.CacheEntry, "write", lambda *_: None)
    improved = repack(linear(), KNOWN, ("fold",))
    assert [(outcome.status, outcome.reason) for outcome in improved.passes] == [
        ("dropped", "the results differ")
    ]
    assert len(improved.program.methods[0].instructions) == 2


def test_programs_are_compared_by_all_their_runs() -> None:
    old = execute.Executable.of(linear().program)
    ones = np.ones(6, np.float32).tobytes()
    other = execute.Executable.of(replace(old.program, constants=(b"", ones)))
    runs = execute.scenarios(linear())
    assert execute.compare(here(), old, old, runs) == "same"
    assert execute.compare(here(), old, other, runs) == "different"


def test_random_inputs_have_every_type() -> None:
    numbers = np.random.default_rng(0)
    for dtype in DType:
        array = execute.random(dtype, (2, 3), numbers)
        assert array.shape == (2, 3)
        assert array.dtype == dtype.numpy


def test_what_was_found_is_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = repack(linear(), KNOWN, ("fold",))

    def never(*_: object) -> list[batch.Result]:
        raise AssertionError("nothing needs to run")

    monkeypatch.setattr(Computer, "run", never)
    again = repack(linear(), KNOWN, ("fold",))
    assert again.content == first.content
    assert (again.origins, again.passes) == (first.origins, first.passes)


def test_names_of_passes_are_checked() -> None:
    assert passes.wanted(["fold"]) == ("fold",)
    assert passes.wanted(passes.NAMES, ["fold"]) == tuple(
        name for name in passes.NAMES if name != "fold"
    )
    assert passes.wanted(["order", "fold"]) == ("fold", "order")
    with pytest.raises(UsageError, match="there is no pass 'folt'"):
        passes.wanted(["folt"])
    either = [passes.with_rows(passes.NAMES, rows) for rows in ("smallest", "fed")]
    for names, name_kept in zip(either, ("rows", "rows_fed"), strict=True):
        others = {"rows", "rows_fed"} - {name_kept}
        assert names == tuple(name for name in improve.ALL if name not in others)
