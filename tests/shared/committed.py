"""The committed cases, and how they run on a board."""

from __future__ import annotations

import shutil
from pathlib import Path

import case_tables
import pytest
from committed_cases import path_of

from ember import boards, cases
from ember.cases import CaseTensor, picked
from ember.files.tensors import Array
from ember.program import Program
from ember.run import testing
from ember.run.testing import Outcome
from ember.toolchain import emulator


def program_of(name: str) -> Program:
    """The program of a case."""
    return cases.read(cases.Found(name, path_of(name))).program


def copied(name: str, to: Path) -> Path:
    """The case as a folder with files that a test may change."""
    place = path_of(name)
    to.mkdir(parents=True)
    for data in place.glob("*.ptd"):
        shutil.copy(data, to)
    return case_tables.folder_of(cases.read(cases.Found(name, place)), to)


def array_of(output: object) -> Array:
    """An output of a case that is a tensor."""
    assert isinstance(output, CaseTensor)
    return output.array


def run(
    folders: list[Path],
    board: str,
    expression: str = "",
    settings: testing.Settings | None = None,
) -> list[Outcome]:
    name = boards.load(board)
    if not emulator.available(name):
        pytest.skip(f"{name.runner.binary} is not installed")
    wanted = picked.parse_filter(expression)
    chosen = [case for case in cases.find(folders) if wanted(case.name)]
    return testing.test(chosen, [name], jobs=1, settings=settings)


def check(results: list[Outcome]) -> None:
    wrong = [outcome for outcome in results if outcome.status != "passed"]
    lines = [
        f"{outcome.name}: {outcome.status}: {outcome.message}" for outcome in wrong
    ]
    again = [f"  {outcome.again}" for outcome in wrong]
    assert not wrong, "\n".join([*lines, "to run one again:", *again])
